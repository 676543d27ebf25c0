/** The environment of a container, read from inside: addresses, names, files, limits, permissions. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { cgroupFile, podCgroupOf } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

describeOnContainerd("inside containers on containerd", (installation) => {
  const node = containerdNode(installation);
  const running = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");

  it("has its name, address and hosts file, and knows about its pod what it asked for", async () => {
    const field = (
      fieldPath: string,
    ): { readonly valueFrom: { readonly fieldRef: { readonly fieldPath: string } } } => ({
      valueFrom: { fieldRef: { fieldPath } },
    });
    const env = [
      { name: "IP", ...field("status.podIP") },
      { name: "NODE", ...field("spec.nodeName") },
      { name: "POD", ...field("metadata.name") },
      { name: "LABEL", ...field("metadata.labels['app']") },
      { name: "JOINED", value: "$(POD)/$(LABEL)" },
    ];
    const tell = "env | grep -E '^(IP|NODE|POD|LABEL|JOINED)=' | sort; hostname; cat /etc/hosts; echo end";
    const spec = {
      hostAliases: [{ ip: "192.0.2.7", hostnames: ["backend"] }],
      containers: [server("main", tell, { env })],
    };
    await node.daemon.put("named.json", manifest("named", spec, { labels: { app: "shop" } }));
    const pod = await running("named");
    const ip = pod.status?.podIP ?? "";
    expect(await node.untilOutput(pod, "main", "end")).toEqual([
      `IP=${ip}`,
      "JOINED=named-test-node/shop",
      "LABEL=shop",
      "NODE=test-node",
      "POD=named-test-node",
      "named-test-node",
      "# Kubernetes-managed hosts file.",
      "127.0.0.1\tlocalhost",
      "::1\tlocalhost ip6-localhost ip6-loopback",
      "fe00::0\tip6-localnet",
      "fe00::0\tip6-mcastprefix",
      "fe00::1\tip6-allnodes",
      "fe00::2\tip6-allrouters",
      `${ip}\tnamed-test-node`,
      "",
      "# Entries added by HostAliases.",
      "192.0.2.7\tbackend",
      "end",
    ]);
    expect(pod.status?.podIPs).toEqual([{ ip }]);
  });

  it("shares an emptyDir with containers of other users, and sees the host's files", async () => {
    await mkdir(join(node.folder, "site"));
    await writeFile(join(node.folder, "site", "page"), "from the host\n");
    const work = { name: "work", mountPath: "/work" };
    const site = { name: "site", mountPath: "/site", readOnly: true };
    await node.daemon.put(
      "shared.json",
      manifest("shared", {
        volumes: [
          { name: "work", emptyDir: {} },
          { name: "site", hostPath: { path: join(node.folder, "site"), type: "Directory" } },
        ],
        containers: [
          server("writer", "cat /site/page >/work/copy; touch /site/new 2>/dev/null || echo read-only", {
            volumeMounts: [work, site],
            securityContext: { runAsUser: 65534 },
          }),
          server(
            "reader",
            "until [ -s /work/copy ]; do sleep 0.05; done; cat /work/copy; touch /work/mine && echo mine",
            {
              volumeMounts: [work],
              securityContext: { runAsUser: 1234 },
            },
          ),
        ],
      }),
    );
    const pod = await running("shared");
    expect(await node.untilOutput(pod, "writer", "read-only")).toEqual(["read-only"]);
    expect(await node.untilOutput(pod, "reader", "mine")).toEqual(["from the host", "mine"]);
  });

  it("checks the type of a host path, and makes what is to be made", async () => {
    const path = (name: string): string => join(node.folder, "made", name);
    await mkdir(join(node.folder, "made"));
    const mount = (name: string): { readonly name: string; readonly mountPath: string } => ({
      name,
      mountPath: `/${name}`,
    });
    await node.daemon.put(
      "made.json",
      manifest("made", {
        volumes: [
          { name: "folder", hostPath: { path: path("folder"), type: "DirectoryOrCreate" } },
          { name: "file", hostPath: { path: path("file"), type: "FileOrCreate" } },
        ],
        containers: [
          server("main", "echo a >/folder/x; echo b >/file; echo end", {
            volumeMounts: [mount("folder"), mount("file")],
          }),
        ],
      }),
    );
    await node.daemon.put(
      "missing.json",
      manifest("missing", {
        volumes: [{ name: "folder", hostPath: { path: path("nowhere"), type: "Directory" } }],
        containers: [server("main", ":", { volumeMounts: [mount("folder")] })],
      }),
    );
    await node.untilOutput(await running("made"), "main", "end");
    expect(await readFile(path("file"), "utf8")).toBe("b\n");
    const message = `MountVolume.SetUp failed for volume "folder" : hostPath type check failed: ${path("nowhere")} is not a directory`;
    const reported = await waitFor("FailedMount", async () =>
      (await node.daemon.events("missing")).find(({ reason }) => reason === "FailedMount"),
    );
    expect(reported.message).toBe(message);
  });

  it("leaves a termination message, or the end of its log when it failed without one", async () => {
    await node.daemon.put(
      "last-words.json",
      manifest("last-words", {
        restartPolicy: "Never",
        containers: [
          script("written", "echo -n from the file >/dev/termination-log; echo from the log; exit 1"),
          script("elsewhere", "echo -n custom >/last", { terminationMessagePath: "/last" }),
          script("logged", "echo one; echo two; exit 1", { terminationMessagePolicy: "FallbackToLogsOnError" }),
          script("silent", "echo one; exit 0", { terminationMessagePolicy: "FallbackToLogsOnError" }),
        ],
      }),
    );
    const pod = await node.daemon.until("last-words", ({ status }) => status?.phase === "Failed", "Failed");
    const messages = pod.status?.containerStatuses?.map(({ name, state }) => [name, state?.terminated?.message]);
    expect(Object.fromEntries(messages ?? [])).toEqual({
      written: "from the file",
      elsewhere: "custom",
      logged: "one\ntwo\n",
      silent: undefined,
    });
  });

  it("is held within its limits, in a cgroup below that of its pod", async () => {
    await node.daemon.put(
      "limited.json",
      manifest("limited", {
        containers: [
          server("main", ":", {
            resources: { requests: { cpu: "50m", memory: "16Mi" }, limits: { cpu: "200m", memory: "64Mi" } },
          }),
        ],
      }),
    );
    const pod = await running("limited");
    const { uid } = pod.metadata;
    expect(pod.status?.qosClass).toBe("Burstable");
    const [container] = await node.containers(uid);
    const podCgroup = podCgroupOf(node.containerd.cgroupParent, pod);
    const limits = (cgroup: string): unknown =>
      cgroupFile(cgroup, "memory.limit_in_bytes") !== undefined
        ? {
            memory: cgroupFile(cgroup, "memory.limit_in_bytes"),
            cpu: `${cgroupFile(cgroup, "cpu.cfs_quota_us")} ${cgroupFile(cgroup, "cpu.cfs_period_us")}`,
            hasShares: cgroupFile(cgroup, "cpu.shares") === "51",
          }
        : { memory: cgroupFile(cgroup, "memory.max"), cpu: cgroupFile(cgroup, "cpu.max"), hasShares: true };
    const wanted = { memory: String(64 * 1024 * 1024), cpu: "20000 100000", hasShares: true };
    expect(limits(`${podCgroup}/${container?.id}`)).toEqual(wanted);
    expect(limits(podCgroup)).toEqual(wanted);
  });

  it("has the rights its security context gives it, and no others", async () => {
    const tell = `id -u; id -g; id -G; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; touch /x 2>&1; echo end`;
    await node.daemon.put(
      "confined.json",
      manifest("confined", {
        securityContext: { runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000, supplementalGroups: [4000] },
        containers: [
          server("user", tell, { securityContext: { allowPrivilegeEscalation: false } }),
          server("root", tell, {
            securityContext: {
              runAsUser: 0,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] },
            },
          }),
        ],
      }),
    );
    const pod = await running("confined");
    expect(await node.untilOutput(pod, "user", "end")).toEqual([
      "1000",
      "2000",
      "2000 3000 4000",
      "CapEff:\t0000000000000000",
      "NoNewPrivs:\t1",
      "touch: /x: Permission denied",
      "end",
    ]);
    expect(await node.untilOutput(pod, "root", "end")).toEqual([
      "0",
      "2000",
      "2000 3000 4000",
      "CapEff:\t0000000000001000",
      "NoNewPrivs:\t0",
      "touch: /x: Read-only file system",
      "end",
    ]);
  });

  it("refuses to run as root what must not", async () => {
    const securityContext = { runAsNonRoot: true };
    await node.daemon.put(
      "nonroot.json",
      manifest("nonroot", { containers: [server("main", ":", { securityContext })] }),
    );
    const pod = await node.daemon.until(
      "nonroot",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerConfigError",
      "refused",
    );
    expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toMatch(
      /^container has runAsNonRoot and image will run as root/,
    );
  });

  it("is on the host's network when the pod is", async () => {
    const spec = {
      hostNetwork: true,
      containers: [server("main", "hostname; echo end", { ports: [{ containerPort: 39871 }] })],
    };
    await node.daemon.put("hosted.json", manifest("hosted", spec));
    const pod = await running("hosted");
    expect(await node.untilOutput(pod, "main", "end")).toEqual([hostname(), "end"]);
    expect(pod.status?.podIP).toBe(pod.status?.hostIP);
    expect(pod.spec.containers[0]?.ports).toEqual([{ containerPort: 39871, hostPort: 39871, protocol: "TCP" }]);
  });

  it("is reachable at its own address, and the runtime receives its host ports", async () => {
    const serve = "mkdir /www; echo here >/www/index.html; httpd -p 80 -h /www";
    const ports = [{ containerPort: 80, hostPort: 39873 }];
    await node.daemon.put("served.json", manifest("served", { containers: [server("main", serve, { ports })] }));
    const { metadata, status } = await running("served");
    const page = async (): Promise<string> => {
      const answer = await fetch(`http://${status?.podIP}/`, { signal: AbortSignal.timeout(1_000) });
      return answer.text();
    };
    expect(await waitFor("the pod to answer", page)).toBe("here\n");
    const [sandbox] = await node.sandboxes(metadata.uid);
    const { config } = await node.sandboxInfo(sandbox?.id ?? "");
    expect(config.port_mappings).toEqual([{ container_port: 80, host_port: 39873 }]);
  });

  it("sees its neighbours' processes when the pod shares them, and only its own otherwise", async () => {
    const tell = "until pidof sleep >/dev/null; do sleep 0.05; done; ps -o args | grep -c '^sleep 4321'; echo end";
    const containers = [
      script("main", `sleep 4321 & ${tell}; wait`),
      server("other", `sleep 4321 & sleep 0.3; ${tell}`),
    ];
    await node.daemon.put("open.json", manifest("open", { shareProcessNamespace: true, containers }));
    await node.daemon.put("closed.json", manifest("closed", { containers }));
    expect(await node.untilOutput(await running("open"), "other", "end")).toEqual(["2", "end"]);
    expect(await node.untilOutput(await running("closed"), "other", "end")).toEqual(["1", "end"]);
  });
});
