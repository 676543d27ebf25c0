/** Probes and hooks of real processes: the daemon on the embedded runtime, web servers and commands of this machine. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { type Daemon, type DaemonOptions, startDaemon } from "../support/daemon.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";
import { manifest } from "./manifests.ts";

const PORT = 18_080;

/** Answers `/name` with 200 while the file `name` is in the folder, with 500 otherwise. */
const SERVER = `
const { createServer } = require("node:http");
const { existsSync } = require("node:fs");
createServer((request, response) => {
  response.statusCode = existsSync(process.env.FOLDER + request.url) ? 200 : 500;
  response.end();
}).listen(${PORT}, process.env.POD_IP);
process.on("SIGTERM", () => process.exit(0));
`;

const web = (folder: string, more: Partial<Container>): Container => ({
  name: "web",
  image: "rxlet.dev/host",
  command: [process.execPath, "-e", SERVER],
  ports: [{ name: "http", containerPort: PORT }],
  env: [
    { name: "FOLDER", value: folder },
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
  ],
  ...more,
});

const script = (text: string, more: Partial<Container> = {}): Container => ({
  name: "main",
  image: "rxlet.dev/host",
  command: ["/bin/sh", "-c", text],
  ...more,
});

const UNTIL_TERM = "trap 'exit 0' TERM; while :; do sleep 60 & wait $!; done";

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
const containerOf = ({ status }: Pod) => status?.containerStatuses?.[0];

async function startNode(
  config: DaemonOptions["config"] = {},
): Promise<{ readonly daemon: Daemon; readonly folder: string }> {
  const folder = temporaryDir();
  const { socketPath } = await startRuntime(folder);
  const daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}`, config });
  onTestFinished(async () => {
    await daemon.dropAll();
    await waitFor("all pods to be gone", async () => (await daemon.pods()).length === 0).catch(() => {});
    await daemon.kill();
  });
  return { daemon, folder };
}

describe("probes of real processes", () => {
  it("make a web server Ready and not Ready over HTTP, and a restart of the daemon does not", {
    timeout: 120_000,
  }, async () => {
    const { daemon, folder } = await startNode();
    const ready = join(folder, "ready");
    const container = web(folder, {
      startupProbe: { exec: { command: ["/bin/sh", "-c", "true"] }, periodSeconds: 1 },
      livenessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
      // Several failures: the first status after a restart is reported before they are complete.
      readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 1, failureThreshold: 3 },
    });
    await daemon.put("web.json", manifest("web", { containers: [container] }));
    const started = await daemon.until("web", (pod) => containerOf(pod)?.started === true, "started");
    expect(isReady(started)).toBe(false);
    writeFileSync(ready, "");
    await daemon.until("web", isReady, "Ready");
    rmSync(ready);
    await daemon.until("web", (pod) => !isReady(pod), "not Ready");
    writeFileSync(ready, "");
    const before = await daemon.until("web", isReady, "Ready again");
    const messages = (await daemon.events("web")).filter(({ reason }) => reason === "Unhealthy");
    // The first probes may come before the server listens: they fail in another way.
    expect(messages.map(({ message }) => message)).toContain(
      "Readiness probe failed: HTTP probe failed with statuscode: 500",
    );
    const journal = join(folder, "kubelet", "pods", before.metadata.uid, "probe-verdicts.json");
    await waitFor("the verdict to be on disk", () => readFileSync(journal, "utf8").includes('"ready":true'));
    await daemon.kill();
    rmSync(ready);
    await daemon.restart();
    const first = await waitFor("the first status", async () => {
      const pod = await daemon.pod("web");
      return containerOf(pod as Pod)?.state?.running === undefined ? undefined : pod;
    });
    expect([isReady(first), containerOf(first)?.containerID]).toEqual([true, containerOf(before)?.containerID]);
    const after = await daemon.until("web", (pod) => !isReady(pod), "not Ready by a probe");
    expect(containerOf(after)?.restartCount).toBe(0);
    const page = await (await fetch(`${daemon.readOnlyUrl}/metrics/probes`)).text();
    expect(page).toMatch(/^prober_probe_total\{[^}]*probe_type="Readiness"[^}]*\} \d+$/m);
    expect(page).not.toContain("rxlet_");
    expect(await daemon.metrics()).not.toContain("prober_");
  });

  it("restart a container whose liveness probe fails, and end a command that takes too long", async () => {
    const { daemon, folder } = await startNode();
    const live = join(folder, "live");
    writeFileSync(live, "");
    const container = web(folder, {
      livenessProbe: {
        httpGet: { path: "/live", port: PORT },
        periodSeconds: 1,
        failureThreshold: 2,
        initialDelaySeconds: 1,
      },
    });
    const marker = join(folder, "still-running");
    const hanging = script(UNTIL_TERM, {
      readinessProbe: {
        exec: { command: ["/bin/sh", "-c", `sleep 3; echo >${marker}`] },
        periodSeconds: 1,
        timeoutSeconds: 1,
      },
    });
    await daemon.put("web.json", manifest("web", { containers: [container] }));
    await daemon.put("hanging.json", manifest("hanging", { containers: [hanging] }));
    const first = await daemon.until("web", isReady, "Ready");
    rmSync(live);
    const restarted = await daemon.until("web", (pod) => containerOf(pod)?.restartCount === 1, "restarted");
    writeFileSync(live, "");
    expect(containerOf(restarted)?.containerID).not.toBe(containerOf(first)?.containerID);
    const reported = (await daemon.events("web")).map(({ reason, message }) => `${reason}: ${message}`);
    expect(reported).toContain("Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500");
    expect(reported).toContain("Killing: Container web failed liveness probe, will be restarted");
    const late = await waitFor("the command to be late", async () =>
      (await daemon.events("hanging")).find(({ reason }) => reason === "Unhealthy"),
    );
    expect(late.message).toBe(
      `Readiness probe failed: command timed out: "/bin/sh -c sleep 3; echo >${marker}" timed out after 1s`,
    );
    expect(existsSync(marker)).toBe(false);
  });

  it("run hooks around a container's life, and count preStop in its grace period", async () => {
    const { daemon, folder } = await startNode();
    const journal = join(folder, "journal");
    const note = (word: string): readonly string[] => ["/bin/sh", "-c", `sleep 0.3; echo ${word} >>${journal}`];
    const container = script(`trap 'echo term >>${journal}; exit 0' TERM; while :; do sleep 60 & wait $!; done`, {
      lifecycle: {
        postStart: { exec: { command: [...note("postStart")] } },
        preStop: { exec: { command: [...note("preStop")] } },
      },
    });
    await daemon.put("hooks.json", manifest("hooks", { containers: [container], terminationGracePeriodSeconds: 10 }));
    await daemon.until("hooks", isReady, "Ready");
    expect(readFileSync(journal, "utf8")).toBe("postStart\n");
    await daemon.drop("hooks.json");
    await daemon.untilGone("hooks");
    expect(readFileSync(journal, "utf8")).toBe("postStart\npreStop\nterm\n");
  });

  it("end a container with the signal it asks for, where the gate lets it", async () => {
    const { daemon, folder } = await startNode({ featureGates: { ContainerStopSignals: true } });
    const journal = join(folder, "journal");
    const traps = `trap 'echo usr1 >>${journal}; exit 0' USR1; trap 'echo term >>${journal}; exit 0' TERM`;
    const text = `${traps}; echo up >>${journal}; while :; do sleep 60 & wait $!; done`;
    const container = script(text, { lifecycle: { stopSignal: "SIGUSR1" } });
    await daemon.put("asked.json", manifest("asked", { containers: [container], terminationGracePeriodSeconds: 10 }));
    await daemon.until("asked", isReady, "Ready");
    await waitFor("its traps to be set", () => Promise.resolve(existsSync(journal)));
    await daemon.drop("asked.json");
    await daemon.untilGone("asked");
    expect(readFileSync(journal, "utf8")).toBe("up\nusr1\n");
  });

  it("end a pod at its active deadline", async () => {
    const { daemon } = await startNode();
    await daemon.put("short.json", manifest("short", { containers: [script(UNTIL_TERM)], activeDeadlineSeconds: 2 }));
    const pod = await daemon.until(
      "short",
      ({ status }) => containerOf({ status } as Pod)?.state?.terminated !== undefined,
      "ended",
    );
    expect([pod.status?.phase, pod.status?.reason]).toEqual(["Failed", "DeadlineExceeded"]);
  });
});
