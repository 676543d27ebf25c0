/** The ways to a node on Docker: in the daemon, as a server for other kubelets, and in `rxlet dev`. */
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { describeOnDocker } from "../support/dockerInstallation.ts";
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from "../support/images.ts";
import { openNetworkNamespace, type NetworkNamespace, scriptAt } from "../support/networkNamespace.ts";
import { type PrivateDocker, startPrivateDocker } from "../support/privateDocker.ts";
import { realClock } from "../support/realClock.ts";
import { waitFor } from "../support/waitFor.ts";
import { createDevUser, type DevUser } from "./devNode.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/container-pods", import.meta.url));
const PLUGINS = "/usr/lib/cni";
const NAMES = ["bridge", "host-local", "loopback"];

const podOf = (name: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: "main",
        image: BUSYBOX_IMAGE,
        command: ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"],
      },
    ],
  },
});
const isRunning = (pod: Pod): boolean =>
  pod.status?.phase === "Running" && (pod.status.containerStatuses ?? []).every(({ ready }) => ready);
const containerId = (pod: Pod): string => pod.status?.containerStatuses?.[0]?.containerID ?? "";

describeOnDocker("a node on Docker", (installation) => {
  let docker: PrivateDocker;
  beforeAll(async () => {
    docker = await startPrivateDocker(installation);
    // Images that a newcomer pulls.
    await docker.request("POST", `/images/${PAUSE_IMAGE}/tag?repo=registry.k8s.io/pause&tag=3.10`);
    await docker.request("POST", `/images/${BUSYBOX_IMAGE}/tag?repo=busybox&tag=1.37`);
  });
  afterAll(async () => {
    await docker.stop();
  });
  /** Names of all containers, with those that have ended. */
  const containers = async (): Promise<readonly string[]> => {
    const { body } = await docker.request("GET", "/containers/json?all=1");
    return (JSON.parse(body) as readonly { readonly Names: readonly string[] }[]).flatMap(({ Names }) => Names);
  };
  afterEach(async () => {
    expect(await containers(), "containers that are left").toEqual([]);
  });

  describe("with --container-runtime=docker and CNI plugins", () => {
    let machine: NetworkNamespace;
    let daemon: Daemon;
    let place: string;
    beforeEach(async () => {
      machine = await openNetworkNamespace();
      place = join(docker.folder, "node");
      const [confDir, bin] = [join(place, "net.d"), join(place, "bin")];
      for (const directory of [place, confDir, bin]) mkdirSync(directory);
      for (const name of NAMES) scriptAt(join(bin, name), `exec ${machine.enter.join(" ")} ${join(PLUGINS, name)}`);
      const network = {
        ...{ cniVersion: "1.0.0", name: "podnet", type: "bridge", bridge: "cni0", isGateway: true },
        // The range is that of the node.
        capabilities: { ipRanges: true },
        ipam: { type: "host-local", dataDir: join(place, "addresses") },
      };
      writeFileSync(join(confDir, "10-podnet.conf"), JSON.stringify(network));
      daemon = await startDaemon({
        folder: place,
        endpoint: "unix:///run/none.sock",
        cgroupRoot: docker.cgroupParent,
        config: { podCIDR: "10.89.0.0/16" },
        args: [
          "--container-runtime=docker",
          `--docker-endpoint=${docker.endpoint}`,
          `--pod-infra-container-image=${PAUSE_IMAGE}`,
          ...[`--cni-conf-dir=${confDir}`, `--cni-bin-dir=${bin}`, `--cni-cache-dir=${join(place, "cache")}`],
        ],
      });
    });
    afterEach(async () => {
      await daemon.kill("SIGTERM");
      await machine.close();
    });
    const addresses = (): readonly string[] => {
      const directory = join(place, "addresses/podnet");
      return existsSync(directory) ? readdirSync(directory).filter((name) => /^[\d.]+$/.test(name)) : [];
    };

    it("runs pods with addresses of the plugins, goes on with them after kill -9, and leaves nothing", async () => {
      await daemon.put("web.json", podOf("web"));
      const before = await daemon.until("web", isRunning, "running");
      expect(before.status?.podIP).toBe("10.89.0.2");
      expect(addresses()).toEqual(["10.89.0.2"]);
      expect(containerId(before)).toMatch(/^docker:\/\/[0-9a-f]{64}$/);

      await daemon.kill("SIGKILL");
      await daemon.restart();
      const after = await daemon.until("web", isRunning, "running");
      expect([containerId(after), after.status?.podIP]).toEqual([containerId(before), "10.89.0.2"]);

      // Docker loses a sandbox while nobody looks: its address is released by the next start.
      await daemon.kill("SIGKILL");
      for (const name of await containers()) await docker.request("DELETE", `/containers${name}?force=1`);
      await daemon.drop("web.json");
      await daemon.put("other.json", podOf("other"));
      await daemon.restart();
      await daemon.until("other", isRunning, "running");
      await waitFor("the release of the address", () => addresses().join() === "10.89.0.3");

      await daemon.drop("other.json");
      await daemon.untilGone("other");
      await waitFor("the end of the containers", async () => (await containers()).length === 0);
      expect([addresses(), readdirSync(join(place, "cache/results"))]).toEqual([[], []]);
      // The kernel takes the interface of a namespace down some time after its last process.
      const interfaces = (): string => machine.inside("ip", "-o", "link", "show", "type", "veth");
      await waitFor("the end of the interfaces", () => interfaces() === "");
    });
  });

  describe("for the user", () => {
    let user: DevUser;
    beforeEach(async () => {
      user = await createDevUser();
    });
    afterEach(async () => {
      await user.close();
    });
    const onDocker = (): readonly string[] => ["--runtime=docker", `--runtime-endpoint=${docker.endpoint}`];

    it("rxlet dockershim serves CRI until it is stopped", async () => {
      const socket = join(user.folder, "cri.sock");
      const args = [`--socket=unix://${socket}`, `--state-dir=${join(user.folder, "shim")}`];
      const shim = user.spawn([
        "dockershim",
        ...args,
        `--docker-endpoint=${docker.endpoint}`,
        "--network-plugin=bridge",
      ]);
      await waitFor("the socket", () => existsSync(socket));
      const client = createCriClient({ endpoint: `unix://${socket}`, clock: realClock, defaultDeadlineMs: 60_000 });
      try {
        const version = await firstValueFrom(client.runtime.version({ version: "" }));
        expect([version.runtimeName, version.runtimeApiVersion]).toEqual(["docker", "v1"]);
      } finally {
        client.close();
      }
      const ended = once(shim, "exit");
      shim.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
      expect(existsSync(socket)).toBe(false);
    });

    it("rxlet dev runs the examples in containers, and removes them when it is stopped", async () => {
      const files = readdirSync(EXAMPLES).map((name) => [name, readFileSync(join(EXAMPLES, name), "utf8")] as const);
      const node = await user.start("pods", Object.fromEntries(files), onDocker());
      const pod = await node.until("web", "running", isRunning);
      expect(containerId(pod)).toMatch(/^docker:/);
      expect(await (await fetch(`http://${pod.status?.podIP}:8080`)).text()).toBe("hello from web-laptop\n");
      await node.until("app", "running", isRunning);
      await node.until("crasher", "restarted", ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
      await node.until("job", "complete", ({ status }) => status?.phase === "Succeeded");
      const twin = await user.run(["dev", node.manifests, ...onDocker()]);
      expect([twin.code, twin.err]).toEqual([
        1,
        expect.stringContaining(
          `--runtime=docker: process ${node.child.pid}, another rxlet dev, uses Docker, and each would end the other's pods`,
        ),
      ]);
      expect(await node.stop()).toBe(0);
      expect([await containers(), await user.leftovers()]).toEqual([[], []]);
    });

    it("rxlet dev says why the containerd of Docker is of no use to it", async () => {
      const endpoint = `--runtime-endpoint=unix://${join(docker.folder, "containerd.sock")}`;
      const refused = await user.run(["dev", user.folder, "--runtime=containerd", endpoint]);
      expect([refused.code, refused.err]).toEqual([
        1,
        "rxlet: --runtime=containerd: it serves no CRI v1: its configuration disables the plugin cri, as that of Docker's " +
          "packages does (disabled_plugins in /etc/containerd/config.toml); --runtime=docker needs none\n",
      ]);
      expect(await user.leftovers()).toEqual([]);
    });

    it("rxlet dev removes the pods of one that was killed, and refuses a Docker with pods of another kubelet", async () => {
      const killed = await user.start("pods", { "web.json": podOf("web") }, onDocker());
      await killed.until("web", "running", isRunning);
      killed.child.kill("SIGKILL");
      await once(killed.child, "exit");
      const stranger = await createDevUser();
      const refused = await stranger.run(["dev", killed.manifests, ...onDocker()]);
      expect([refused.code, refused.err]).toEqual([
        1,
        expect.stringContaining(
          "--runtime=docker: Docker has pods of another kubelet (default/web-laptop), which rxlet dev would end",
        ),
      ]);
      expect(await stranger.leftovers()).toEqual([]);
      await stranger.close();
      const next = await user.start("others", { "app.json": podOf("app") }, onDocker());
      expect(next.output()).toContain("Docker had pods of an rxlet dev that was killed: 1 removed");
      await next.until("app", "running", isRunning);
      expect(await containers()).toHaveLength(2);
      expect(await next.stop()).toBe(0);
    });
  });
});
