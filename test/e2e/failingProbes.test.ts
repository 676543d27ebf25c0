/** Effects of failing probes and hooks on real containers: restarts, grace periods, warnings, readiness on the way out. */
import { expect, it } from "vitest";
import type { ApiContainerStatus, Container, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { LOOPBACK, loopbackServers } from "../support/loopbackServer.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const OFTEN = { periodSeconds: 1, failureThreshold: 1 };
const command = (text: string) => ({ exec: { command: ["/bin/sh", "-c", text] } });
/** Passes until the file is there. */
const unless = (file: string) => ({ exec: { command: ["test", "!", "-e", file] } });

describeOnContainerd("failing probes and hooks on containerd", (installation) => {
  const node = containerdNode(installation);
  const servers = loopbackServers();
  const put = (name: string, spec: Partial<Pod["spec"]>) => node.daemon.put(`${name}.json`, manifest(name, spec));
  const untilOf = (name: string, container: string, wanted: (status: ApiContainerStatus) => boolean, what: string) =>
    node.daemon
      .until(
        name,
        ({ status }) => status?.containerStatuses?.some((each) => each.name === container && wanted(each)) === true,
        `one whose ${container} ${what}`,
      )
      .then((pod) => pod.status?.containerStatuses?.find((each) => each.name === container) as ApiContainerStatus);
  const reported = async (name: string) =>
    (await node.daemon.events(name)).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

  it("restart what fails its liveness or startup probe, within the probe's own grace period", async () => {
    const quickly = { ...OFTEN, timeoutSeconds: 60, terminationGracePeriodSeconds: 1 };
    // Deaf to TERM in its first life: the grace period of the pod is longer than every wait here.
    const first = (name: string) => `trap : TERM; touch /state/${name}; touch /first; while :; do sleep 0.1; done`;
    // Fails in the first life alone, once it is deaf: a second deaf life would outlast every wait here.
    const isLater = "until [ -e /first ] || [ -e /later ]; do sleep 0.1; done; [ -e /later ]";
    const deaf = (name: string, more: Partial<Container>): Container => ({
      ...server(name, `[ -e /state/${name} ] || { ${first(name)}; }; touch /later`),
      volumeMounts: [{ name: "state", mountPath: "/state" }],
      ...more,
    });
    await put("failing", {
      terminationGracePeriodSeconds: 300,
      volumes: [{ name: "state", emptyDir: {} }],
      containers: [
        deaf("dead", { livenessProbe: { ...quickly, ...command(`${isLater} || { echo ill; exit 1; }`) } }),
        deaf("late", { startupProbe: { ...quickly, ...command(isLater) } }),
        server("fine"),
      ],
    });
    for (const name of ["dead", "late"]) {
      const status = await untilOf("failing", name, ({ restartCount }) => restartCount > 0, "was restarted");
      expect([status.lastState?.terminated?.exitCode, status.lastState?.terminated?.reason]).toEqual([137, "Error"]);
    }
    expect((await untilOf("failing", "fine", () => true, "is there")).restartCount).toBe(0);
    expect(await reported("failing")).toEqual(
      expect.arrayContaining([
        "Warning Unhealthy: Liveness probe failed: ill\n",
        "Normal Killing: Container dead failed liveness probe, will be restarted",
        "Warning Unhealthy: Startup probe failed: command exited with code 1 and printed nothing",
        "Normal Killing: Container late failed startup probe, will be restarted",
      ]),
    );
  });

  it("trust any certificate, warn of a redirect to another host, and end a command that takes too long", async () => {
    const port = await servers.https((request, response) => {
      if (request.url === "/away") response.writeHead(302, { location: "https://elsewhere.example/" });
      response.end(request.url === "/away" ? "moved" : "");
    });
    const get = (path: string) => ({ httpGet: { host: LOOPBACK, port, path, scheme: "HTTPS" } });
    const hanging = command("echo $$$$ >/pid; exec sleep 600");
    await put("warned", {
      containers: [
        server("secure", ":", { readinessProbe: { ...OFTEN, ...get("/here") } }),
        server("moved", ":", { readinessProbe: { ...OFTEN, ...get("/away") } }),
        server(
          "hanging",
          "until [ -s /pid ]; do sleep 0.1; done; while [ -e /proc/$(cat /pid) ]; do sleep 0.1; done; echo ended",
          {
            readinessProbe: { ...OFTEN, timeoutSeconds: 1, ...hanging },
          },
        ),
      ],
    });
    for (const name of ["secure", "moved"]) await untilOf("warned", name, ({ ready }) => ready, "is ready");
    const pod = (await node.daemon.pod("warned")) as Pod;
    await node.untilOutput(pod, "hanging", "ended");
    await waitFor("the end of the command to be told", async () =>
      (await reported("warned")).some((line) => line.includes("Unhealthy")),
    );
    expect((await untilOf("warned", "hanging", () => true, "is there")).ready).toBe(false);
    const late = JSON.stringify(hanging.exec.command.join(" ").replace("$$$$", () => "$$"));
    expect(await reported("warned")).toEqual(
      expect.arrayContaining([
        "Warning ProbeWarning: Readiness probe warning: Probe terminated redirects, Response body: moved",
        `Warning Unhealthy: Readiness probe failed: command timed out: ${late} timed out after 1s`,
      ]),
    );
  });

  it("leave liveness alone once the pod is to end, and let readiness turn false while its hook runs", async () => {
    const preStop = command("touch /leaving; until [ -e /left ]; do sleep 0.1; done");
    await put("leaving", {
      terminationGracePeriodSeconds: 30,
      containers: [
        server("main", ":", {
          readinessProbe: { ...OFTEN, ...unless("/leaving") },
          livenessProbe: { ...OFTEN, ...unless("/leaving") },
          lifecycle: { preStop },
        }),
      ],
    });
    await untilOf("leaving", "main", ({ ready }) => ready, "is ready");
    await node.daemon.drop("leaving.json");
    const { state } = await untilOf("leaving", "main", ({ ready }) => !ready, "is not ready any more");
    expect(Object.keys(state ?? {})).toEqual(["running"]);
    expect((await reported("leaving")).filter((line) => line.includes("Liveness"))).toEqual([]);
    const { metadata } = (await node.daemon.pod("leaving")) as Pod;
    const [{ id = "" } = {}] = await node.containers(metadata.uid);
    expect(await node.exec(id, ["touch", "/left"])).toBe(0);
    await node.daemon.untilGone("leaving");
  });

  it("stop and restart a container whose postStart hook fails, and stop one whose preStop hook fails all the same", async () => {
    const hook = command("echo secret; exit 7");
    await put("hooked", {
      containers: [
        server("begins", ":", { lifecycle: { postStart: hook } }),
        server("ends", ":", { lifecycle: { preStop: hook } }),
      ],
    });
    const { state } = await untilOf(
      "hooked",
      "begins",
      (status) => status.state?.waiting?.reason === "PostStartHookError",
      "shows its error",
    );
    expect(state?.waiting?.message).toMatch(
      /^Exec lifecycle hook .* for Container "begins" in Pod .* failed - error: /,
    );
    await untilOf("hooked", "ends", ({ ready }) => ready, "is ready");
    await node.daemon.drop("hooked.json");
    await node.daemon.untilGone("hooked");
    const events = await reported("hooked");
    expect(events).toEqual(
      expect.arrayContaining([
        "Warning FailedPostStartHook: PostStartHook failed",
        "Warning FailedPreStopHook: PreStopHook failed",
        "Normal Killing: FailedPostStartHook",
      ]),
    );
    expect(events.join("\n")).not.toContain("secret");
  });
});
