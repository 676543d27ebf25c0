/** The timeline of a pod on a whole simulated node, as `rxlet explain` prints it. */
import { describe, expect, it } from "vitest";
import type { Container } from "../../src/core/api.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { timelineText } from "../../src/core/timeline/timelineText.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import type { SimNode } from "../../src/sim/simNode.ts";
import { exitsWith, runsForever } from "../../src/sim/runtime/simProgram.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, type PodParts, podOf } from "../support/pods.ts";

/** A pod without anything to warn of. */
const plainPod = ({ spec, ...more }: PodParts = {}) => podOf({ ...more, spec: { dnsPolicy: "Default", ...spec } });

const viewOf = (node: SimNode, name = "plain") => node.kubelet?.queries.timeline("demo", name);

/** Returns the printed lines without empty ones; instants are in virtual time (minutes and seconds). */
function explained(node: SimNode, name = "plain"): readonly string[] {
  const view = viewOf(node, name);
  if (view === undefined) return [];
  return timelineText(view)
    .replaceAll(/2026-01-01T00:(\d\d:\d\d\.\d\d)\dZ/g, "$1")
    .split("\n")
    .filter((line) => line !== "");
}

describe("the timeline of a pod", () => {
  it("tells a crash loop: each start, each end, and when the next try comes", () => {
    const { node, check } = podNode({ pods: [plainPod()], programs: () => exitsWith(1, 2_000) });
    node.runFor(20_000);
    expect(explained(node)).toEqual([
      "demo/plain  Running, syncing since 00:00.00  (UID uid-1)",
      "Now, at 00:20.00",
      "  main: CrashLoopBackOff for 4s; next try at 00:36.02, in 16s",
      "    back-off 20s restarting failed container=main pod=plain_demo(uid-1) next-try=2026-01-01T00:00:37Z",
      "  To retry at once: rxlet retry demo/plain, or change the pod's annotation rxlet.dev/retry-at",
      "So far",
      "  00:00.00          Accepted",
      "  00:00.00          Phase                  Pending",
      "  00:00.00  0.002s  RunPodSandbox",
      "  00:00.00  0.002s  CreateContainer main",
      "  00:00.01  0.002s  StartContainer main",
      "  00:00.01          Running main",
      "  00:00.01          Ready main",
      "  00:00.01          Phase                  Running",
      "  00:02.01      2s  Exited main            failed: code 1, Error",
      "  00:02.01  0.002s  CreateContainer main",
      "  00:02.02  0.002s  StartContainer main",
      "  00:02.02          Running main           restart 1",
      "  00:02.02          Ready main",
      "  00:04.02      2s  Exited main            failed: code 1, Error",
      "  00:04.02          CrashLoopBackOff main  failed: back-off 10s restarting failed container=main pod=plain_demo(uid-1) next-try=2026-01-01T00:00:15Z",
      "  00:14.02  0.002s  CreateContainer main",
      "  00:14.02  0.002s  StartContainer main",
      "  00:14.03          Running main           restart 2",
      "  00:14.03          Ready main",
      "  00:14.03  0.002s  RemoveContainer main",
      "  00:16.03      2s  Exited main            failed: code 1, Error",
      "  00:16.03          CrashLoopBackOff main  failed: back-off 20s restarting failed container=main pod=plain_demo(uid-1) next-try=2026-01-01T00:00:37Z",
    ]);
    check();
  });

  it("names the sidecars of a terminating pod that wait, and the containers they wait for", () => {
    const sidecar = (name: string) => containerOf({ name, restartPolicy: "Always" });
    const { node, check } = podNode({
      pods: [
        plainPod({
          spec: { terminationGracePeriodSeconds: 20, initContainers: [sidecar("first"), sidecar("second")] },
        }),
      ],
      programs: () => ({ onTerm: { afterMs: 5_000, code: 0 } }),
    });
    node.runFor(5_000);
    node.dropPod("uid-1");
    const waits = () =>
      viewOf(node)?.waits.map(({ what, container, cause }) => [what, container, ...(cause ? [cause] : [])].join(" "));
    node.runFor(2_000);
    expect(waits()).toEqual([
      "StopContainer main",
      "SidecarStop first stops after main, second",
      "SidecarStop second stops after main",
    ]);
    node.runFor(5_000);
    expect(waits()).toEqual(["StopContainer second", "SidecarStop first stops after second"]);
    node.runFor(5_000);
    expect(waits()).toEqual(["StopContainer first"]);
    check();
  });

  it("tells of a pull who is ahead, and of the one ahead how long it takes", () => {
    const images = ["a", "b", "c"].map((name) => `registry.example/${name}:1`);
    const { node, check } = podNode({
      images: [],
      registry: (reference) => ({ ms: 40_000, image: simImage(reference) }),
      pods: images.map((image, index) =>
        plainPod({ name: `pod-${index}`, uid: `uid-${index}`, spec: { containers: [containerOf({ image })] } }),
      ),
    });
    node.runFor(30_000);
    expect(viewOf(node, "pod-2")?.waits).toEqual([
      {
        what: "ImagePull",
        container: "main",
        cause:
          "registry.example/c:1, third in line behind registry.example/a:1 (pulling for 30s), registry.example/b:1",
        ahead: ["registry.example/a:1", "registry.example/b:1"],
        seconds: 29.99,
      },
    ]);
    expect([explained(node, "pod-0"), explained(node, "pod-1")].map((lines) => lines.slice(1, 4))).toEqual([
      ["Now, at 00:30.00", "  main: ImagePull for 30s", "    registry.example/a:1, pulling for 30s"],
      [
        "Now, at 00:30.00",
        "  main: ImagePull for 30s",
        "    registry.example/b:1, second in line behind registry.example/a:1 (pulling for 30s)",
      ],
    ]);
    node.runFor(60_000);
    expect(explained(node, "pod-2").slice(1, 4)).toEqual([
      "Now, at 01:30.00",
      "  main: ImagePull for 90s",
      "    registry.example/c:1, pulling for 10s",
    ]);
    node.runFor(60_000);
    expect(explained(node, "pod-2")).toEqual([
      "demo/pod-2  Running, syncing since 00:00.00  (UID uid-2)",
      "Now, at 02:30.00",
      "  not waiting for anything",
      "So far",
      "  00:00.00          Accepted",
      "  00:00.00          Phase                 Pending",
      "  00:00.00  0.002s  RunPodSandbox",
      "  00:00.01      2m  ImagePull main",
      "  02:00.01  0.002s  CreateContainer main",
      "  02:00.02  0.002s  StartContainer main",
      "  02:00.02          Running main",
      "  02:00.02          Ready main",
      "  02:00.02          Phase                 Running",
    ]);
    check();
  });

  it("tells of a pull that is given up because the pod ends", () => {
    const { node, check } = podNode({
      images: [],
      registry: (reference) => ({ ms: 40_000, image: simImage(reference) }),
      pods: [plainPod()],
    });
    node.runFor(5_000);
    node.dropPod("uid-1");
    node.runFor(5_000);
    expect(explained(node)).toEqual([
      "demo/plain  Pending, gone since 00:05.00  (UID uid-1)",
      "Now, at 00:10.00",
      "  ended and removed",
      "So far",
      "  00:00.00          Accepted",
      "  00:00.00          Phase             Pending",
      "  00:00.00  0.002s  RunPodSandbox",
      "  00:00.01      5s  ImagePull main    cut off",
      "  00:05.00          Terminating       within 30 s",
      "  00:05.00  0.002s  StopPodSandbox",
      "  00:05.00          Terminated",
      "  00:05.00  0.002s  RemovePodSandbox",
      "  00:05.00          Removed",
    ]);
    check();
  });

  it("tells of a sandbox that cannot be made why, and when it is tried again", () => {
    let isBroken = true;
    const { node, check } = podNode({
      pods: [plainPod()],
      callFault: (rpc) =>
        isBroken && rpc === "RunPodSandbox"
          ? { kind: "fail", error: kubeletError("Unknown", "no network plugin") }
          : { kind: "proceed" },
    });
    node.runFor(30_000);
    expect(explained(node)).toEqual([
      "demo/plain  Pending, syncing since 00:00.00  (UID uid-1)",
      "Now, at 00:30.00",
      "  Retry for 30s; next try at 00:40.38, in 10s",
      "    CreatePodSandboxError: no network plugin",
      "So far",
      "  00:00.00          Accepted",
      "  00:00.00          Phase                   Pending",
      "  00:00.00  0.002s  RunPodSandbox           failed: no network plugin",
      "  00:00.00          FailedCreatePodSandBox  warning: Failed to create pod sandbox: no network plugin",
      "  00:14.57  0.002s  RunPodSandbox           failed: no network plugin",
      "  00:14.57          FailedCreatePodSandBox  warning: Failed to create pod sandbox: no network plugin",
      "  00:27.60  0.002s  RunPodSandbox           failed: no network plugin",
      "  00:27.60          FailedCreatePodSandBox  warning: Failed to create pod sandbox: no network plugin",
    ]);
    isBroken = false;
    node.runFor(30_000);
    expect(explained(node).slice(1, 3)).toEqual(["Now, at 01:00.00", "  not waiting for anything"]);
    check();
  });

  it("tells of a hook that is late how long it went on beside the stop of its container", () => {
    const main: Container = containerOf({ lifecycle: { preStop: { exec: { command: ["drain"] } } } });
    const { node, check } = podNode({
      pods: [plainPod({ spec: { containers: [main], terminationGracePeriodSeconds: 10 } })],
      programs: () => ({ exec: () => ({ afterMs: 60_000, code: 0 }), onTerm: "ignored" }),
    });
    node.runFor(10_000);
    node.dropPod("uid-1");
    node.runFor(30_000);
    expect(explained(node).filter((line) => /PreStopHook|StopContainer/.test(line))).toEqual([
      "  00:10.00     12s  PreStopHook main        cut off",
      "  00:20.00          FailedPreStopHook main  warning: PreStopHook failed",
      "  00:20.00      2s  StopContainer main",
    ]);
    check();
  });

  it("tells of a pod that ends which hook or container it waits for, and until when at most", () => {
    const main: Container = containerOf({ lifecycle: { preStop: { exec: { command: ["drain"] } } } });
    const { node, check } = podNode({
      pods: [plainPod({ spec: { containers: [main] } })],
      programs: () => ({ exec: () => ({ afterMs: 8_000, code: 0 }), onTerm: "ignored" }),
    });
    node.runFor(10_000);
    node.dropPod("uid-1");
    node.runFor(3_000);
    expect(explained(node).slice(0, 5)).toEqual([
      "demo/plain  Running, terminating since 00:10.00  (UID uid-1)",
      "Now, at 00:13.00",
      "  main: PreStopHook for 3s; stop signal at 00:40.00, in 27s",
      "    runs drain",
      "So far",
    ]);
    node.runFor(7_000);
    expect(explained(node).slice(0, 4)).toEqual([
      "demo/plain  Running, terminating since 00:10.00  (UID uid-1)",
      "Now, at 00:20.00",
      "  main: StopContainer for 2s; KILL at 00:40.00, in 20s",
      "So far",
    ]);
    node.runFor(30_000);
    expect(explained(node)).toEqual([
      "demo/plain  Failed, gone since 00:40.01  (UID uid-1)",
      "Now, at 00:50.00",
      "  ended and removed",
      "So far",
      "  00:00.00          Accepted",
      "  00:00.00          Phase                 Pending",
      "  00:00.00  0.002s  RunPodSandbox",
      "  00:00.00  0.002s  CreateContainer main",
      "  00:00.01  0.002s  StartContainer main",
      "  00:00.01          Running main",
      "  00:00.01          Ready main",
      "  00:00.01          Phase                 Running",
      "  00:10.00          Terminating           within 30 s",
      "  00:10.00          Killing main          Stopping container main",
      "  00:10.00      8s  PreStopHook main",
      "  00:18.00     22s  StopContainer main",
      "  00:40.00  0.002s  StopPodSandbox",
      "  00:40.01     40s  Exited main           failed: code 137, Error",
      "  00:40.01          Phase                 Failed",
      "  00:40.01          Terminated",
      "  00:40.01  0.002s  RemoveContainer main",
      "  00:40.01  0.002s  RemovePodSandbox",
      "  00:40.01          Removed",
    ]);
    check();
  });

  it("tells of containers that wait for an init container, and of probes that have not succeeded", () => {
    const init = containerOf({ name: "setup" });
    const main = containerOf({ startupProbe: { exec: { command: ["up"] }, periodSeconds: 5, failureThreshold: 100 } });
    const { node, check } = podNode({
      pods: [plainPod({ spec: { initContainers: [init], containers: [main] } })],
      programs: ({ container }) =>
        container.metadata?.name === "setup"
          ? exitsWith(0, 10_000)
          : { ...runsForever, exec: () => ({ afterMs: 0, code: 1, stdout: "not yet" }) },
    });
    node.runFor(5_000);
    expect(explained(node).slice(1, 4)).toEqual([
      "Now, at 00:05.00",
      "  setup: InitContainer for 5s",
      "    has not completed yet",
    ]);
    node.runFor(20_000);
    expect(explained(node)).toEqual([
      "demo/plain  Running, syncing since 00:00.00  (UID uid-1)",
      "Now, at 00:25.00",
      "  main: StartupProbe for 15s",
      "    has not succeeded yet: Startup probe failed: not yet",
      "So far",
      "  00:00.00          Accepted",
      "  00:00.00          Phase                  Pending",
      "  00:00.00  0.002s  RunPodSandbox",
      "  00:00.00  0.002s  CreateContainer setup",
      "  00:00.01  0.002s  StartContainer setup",
      "  00:00.01          Running setup",
      "  00:10.01     10s  Exited setup           code 0, Completed",
      "  00:10.01  0.002s  CreateContainer main",
      "  00:10.02  0.002s  StartContainer main",
      "  00:10.02          Running main",
      "  00:10.02          Phase                  Running",
      "  00:10.34          Unhealthy main         warning: Startup probe failed: not yet (3 times, last at 00:20.34)",
    ]);
    check();
  });

  it("waits for nothing while it runs, and costs nothing: no entry in an hour", () => {
    const { node, check } = podNode({ pods: [plainPod()] });
    node.runFor(5_000);
    const before = viewOf(node);
    node.runFor(3_600_000);
    expect(explained(node).slice(1, 3)).toEqual(["Now, at 2026-01-01T01:00:05.000Z", "  not waiting for anything"]);
    expect(viewOf(node)?.entries).toEqual(before?.entries);
    check();
  });

  it("names the pod that another pod of the same name waits for", () => {
    const { node, check } = podNode({ pods: [plainPod()], programs: () => ({ onTerm: "ignored" }) });
    node.runFor(5_000);
    node.dropPod("uid-1");
    node.putPod(plainPod({ uid: "uid-2" }));
    node.runFor(5_000);
    expect(explained(node)).toEqual([
      "demo/plain  no status yet, waiting since 00:05.00  (UID uid-2)",
      "Now, at 00:10.00",
      "  PodName for 5s",
      "    the pod of the same name with UID uid-1 has not terminated",
      "So far",
      "  00:05.00    Waiting  for the pod of the same name with UID uid-1",
    ]);
    check();
  });

  it("says which pods are stopped to free resources for a critical one", () => {
    const { node } = podNode({ config: { maxPods: 1 }, pods: [plainPod()], programs: () => ({ onTerm: "ignored" }) });
    node.runFor(5_000);
    node.putPod(podOf({ name: "critical", uid: "uid-2", spec: { priority: 2_000_000_000, dnsPolicy: "Default" } }));
    node.runFor(5_000);
    expect(explained(node, "critical").slice(0, 4)).toEqual([
      "demo/critical  Pending, waiting since 00:05.00  (UID uid-2)",
      "Now, at 00:10.00",
      "  Preemption for 5s; started beside them at 00:50.00, in 40s",
      "    demo/plain is stopped to free resources",
    ]);
  });

  it("says for which pods that leave the node a pod waits, and until when", () => {
    const containers = [containerOf({ resources: { requests: { cpu: "8" } } })];
    const sized = (uid: string) => plainPod({ uid, name: uid, spec: { terminationGracePeriodSeconds: 1, containers } });
    const { node } = podNode({
      pods: [sized("old")],
      programs: () => ({ onTerm: "ignored", onKill: { afterMs: 600_000, code: 137 } }),
    });
    node.runFor(5_000);
    node.dropPod("old");
    node.putPod(sized("new"));
    node.runFor(5_000);
    const waiting = [
      "demo/new  Pending, waiting since 00:05.00  (UID new)",
      "Now, at 00:10.00",
      "  Resources for 5s; rejected at 01:06.00, in 56s",
      "    demo/old is leaving the node and will free resources",
      "So far",
      "  00:05.00    Waiting  for resources of demo/old",
      "  00:05.00    Phase    Pending",
    ];
    expect(explained(node, "new")).toEqual(waiting);
    node.runFor(60_000);
    expect(explained(node, "new").slice(0, 3)).toEqual([
      "demo/new  Failed, rejected since 01:06.00  (UID new)",
      "Now, at 01:10.00",
      "  rejected; it does not run",
    ]);
  });

  it("says that the runtime is down", () => {
    const { node } = podNode({ pods: [plainPod()] });
    node.runFor(5_000);
    node.crashRuntime("stay");
    node.runFor(10_000);
    expect(explained(node).slice(1, 4)).toEqual([
      "Now, at 00:15.00",
      "  Runtime",
      "    container runtime is down: connection refused: the runtime does not run",
    ]);
  });

  it("is kept for ten minutes after the pod, of the last 64 pods", () => {
    const pods = Array.from({ length: 70 }, (_, index) => plainPod({ name: `p${index}`, uid: `uid-${index}` }));
    const { node, check } = podNode({ pods });
    node.runFor(5_000);
    for (const { metadata } of pods) node.dropPod(metadata.uid);
    node.runFor(60_000);
    expect(node.pods()).toEqual([]);
    const kept = (): number => node.kubelet?.queries.timelineNames().length ?? 0;
    expect(kept()).toBe(64);
    node.runFor(9 * 60_000 - 10_000);
    expect(kept()).toBe(64);
    node.runFor(20_000);
    expect([kept(), viewOf(node, "p69")]).toEqual([0, undefined]);
    check();
  });
});
