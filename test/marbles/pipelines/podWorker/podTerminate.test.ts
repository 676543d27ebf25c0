import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import type { CriRpc } from "../../../../src/core/criOperations.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { SimIntercept } from "../../../../src/sim/runtime/simCall.ts";
import { simImage } from "../../../../src/sim/runtime/simImageCalls.ts";
import { ignoresTerm } from "../../../../src/sim/runtime/simProgram.ts";
import { gaps, NEW_IMAGE, podNode } from "../../../support/podNode.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const refused = kubeletError("Unknown", "the runtime says no");
const proceed = { kind: "proceed" } as const;
const failing =
  (rpc: CriRpc, isOn: () => boolean = () => true): SimIntercept =>
  (asked) =>
    asked === rpc && isOn() ? { kind: "fail", error: refused } : proceed;

/** The pod on its way out, with so much time left. */
const deleted = (pod: Pod, deletionGracePeriodSeconds: number): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds },
});
const grace = (terminationGracePeriodSeconds: number): Pod => podOf({ spec: { terminationGracePeriodSeconds } });
const onDisk = (paths: readonly string[]): readonly string[] => paths.filter((path) => path.includes("uid-1"));

describe("terminatePod", () => {
  it("stops regular containers together, sidecars in reverse, then the sandbox; then removes everything", () => {
    const sidecar = (name: string) => containerOf({ name, restartPolicy: "Always" });
    const containers = [containerOf({ name: "a" }), containerOf({ name: "b" })];
    const pod = podOf({ spec: { initContainers: [sidecar("one"), sidecar("two")], containers } });
    const { node, calls, takeCalls, check } = podNode({ pods: [pod] });
    node.runFor(5_000);
    takeCalls();
    const startMs = node.clock.monotonicMs();
    node.dropPod("uid-1");
    node.runFor(1_000);
    const [both, after] = [calls.slice(0, 2), calls.slice(2).map(({ what }) => what)];
    expect(both.map(({ what }) => what).sort()).toEqual(["StopContainer plain/a#0", "StopContainer plain/b#0"]);
    expect(gaps(both)).toEqual([0]);
    expect(after.slice(0, 3)).toEqual([
      "StopContainer plain/two#0",
      "StopContainer plain/one#0",
      "StopPodSandbox plain",
    ]);
    expect(after.slice(3, 7).sort()).toEqual(["a", "b", "one", "two"].map((name) => `RemoveContainer plain/${name}#0`));
    expect(after.slice(7)).toEqual(["RemovePodSandbox plain"]);
    expect([(calls.at(-1)?.atMs ?? 0) - startMs < 100, onDisk(node.files.paths())]).toEqual([true, []]);
    expect([node.pods(), [...node.cgroups.all().keys()].filter((name) => name.includes("uid-1"))]).toEqual([[], []]);
    check();
  });

  it("reads the runtime once after the stops, and once after the removals", () => {
    const asked: CriRpc[] = [];
    const intercept: SimIntercept = (rpc) => {
      if (rpc.startsWith("List") || rpc === "ContainerStatus" || rpc === "PodSandboxStatus") asked.push(rpc);
      return proceed;
    };
    const { node, check } = podNode({ pods: [grace(30)], intercept });
    node.runFor(5_000);
    asked.length = 0;
    node.dropPod("uid-1");
    node.runFor(1_000);
    const lists = ["ListPodSandbox", "ListContainers"];
    expect(asked).toEqual([...lists, "ContainerStatus", ...lists]);
    check();
  });

  it("shows within a second that the last container has ended while the stop of the sandbox hangs", () => {
    const intercept: SimIntercept = (rpc) => (rpc === "StopPodSandbox" ? { kind: "hang" } : proceed);
    const { node } = podNode({ pods: [grace(30)], intercept });
    node.runFor(5_000);
    node.putPod(deleted(grace(30), 30));
    const states = () => node.pods()[0]?.status?.containerStatuses?.map(({ state }) => Object.keys(state ?? {}));
    node.runFor(500);
    expect(states()).toEqual([["running"]]);
    node.runFor(1_000);
    expect(states()).toEqual([["terminated"]]);
  });

  it("repeats the stop with the shorter time when the grace period shrinks", () => {
    const pod = grace(3_600);
    const { node, calls, takeCalls, check } = podNode({ pods: [pod], programs: () => ignoresTerm });
    node.runFor(1_000);
    takeCalls();
    node.putPod(deleted(pod, 3_600));
    node.runFor(60_000);
    node.putPod(deleted(pod, 5));
    node.runFor(4_900);
    expect([calls.map(({ what }) => what), node.running()]).toEqual([
      ["StopContainer plain/main#0", "StopContainer plain/main#0"],
      ["demo/plain/main#0"],
    ]);
    node.runFor(1_000);
    expect(node.running()).toEqual([]);
    check();
  });

  it("records an event of each stop that failed, and tries again until it succeeds", () => {
    let isBroken = true;
    const { node, events, check } = podNode({ pods: [grace(1)], intercept: failing("StopContainer", () => isBroken) });
    node.runFor(1_000);
    node.dropPod("uid-1");
    node.runFor(5_000);
    expect(events.map(({ what }) => what).filter((what) => what.includes("FailedKillPod")).length).toBeGreaterThan(0);
    isBroken = false;
    node.runFor(60_000);
    expect([node.running(), node.pods()]).toEqual([[], []]);
    check();
  });

  it("reports when a container that ignores the signal will be killed", () => {
    const pod = grace(20);
    const { node, check } = podNode({ pods: [pod], programs: () => ignoresTerm });
    node.runFor(1_000);
    node.putPod(deleted(pod, 20));
    node.runFor(5_000);
    const [wait] = node.kubelet?.queries.timeline("demo", "plain")?.waits ?? [];
    expect([wait?.what, wait?.container, wait?.next?.what, Math.round(wait?.next?.inSeconds ?? 0)]).toEqual([
      "StopContainer",
      "main",
      "KILL",
      15,
    ]);
    check();
  });

  it("does not repeat the stop for a longer grace period", () => {
    const pod = grace(20);
    const { node, count, check } = podNode({ pods: [pod], programs: () => ignoresTerm });
    node.runFor(1_000);
    node.putPod(deleted(pod, 20));
    node.runFor(5_000);
    node.putPod(deleted(pod, 60));
    node.runFor(10_000);
    expect([count("StopContainer"), node.running().length]).toEqual([1, 1]);
    node.runFor(6_000);
    expect(node.running()).toEqual([]);
    check();
  });

  it("one container whose stop hangs delays neither the others' stops nor, beyond its deadline, the end", () => {
    const containers = [containerOf({ name: "bad" }), containerOf({ name: "good" })];
    const pod = podOf({ spec: { containers, terminationGracePeriodSeconds: 2 } });
    let hangs = 1;
    let bad = "";
    const { node, count, events, check } = podNode({
      pods: [pod],
      intercept: (rpc, request) => {
        if (rpc !== "StopContainer" || (request as { containerId: string }).containerId !== bad) return proceed;
        hangs -= 1;
        return hangs >= 0 ? { kind: "hang" } : proceed;
      },
    });
    node.runFor(1_000);
    bad = node.runtime.containers().find(({ config }) => config.metadata?.name === "bad")?.id ?? "";
    node.dropPod("uid-1");
    node.runFor(1_000);
    expect(node.running()).toEqual(["demo/plain/bad#0"]);
    // Two seconds of grace and two minutes for the runtime, then at most 15 s.
    node.runFor(122_000 + 15_500);
    expect([node.running(), node.pods(), count("StopContainer plain/good#0")]).toEqual([[], [], 1]);
    expect(events.map(({ what }) => what)).toContain("FailedKillPod plain");
    check();
  });

  it("ends the wait for an image at once, and cancels the pull without other requests", () => {
    const pod = podOf({ spec: { containers: [containerOf({ image: "registry.example/huge:1" })] } });
    const { node, calls, takeCalls, check } = podNode({
      pods: [pod],
      registry: (reference) => ({ ms: 3_600_000, image: simImage(reference) }),
    });
    // Not a whole minute, when garbage is collected as well.
    node.runFor(59_000);
    expect(takeCalls()).toEqual(["RunPodSandbox plain", "PullImage huge:1"]);
    const startMs = node.clock.monotonicMs();
    node.dropPod("uid-1");
    node.runFor(200);
    expect(calls.map(({ what }) => what)).toEqual(["StopPodSandbox plain", "RemovePodSandbox plain"]);
    expect([(calls[0]?.atMs ?? 0) - startMs < 10, node.pods()]).toEqual([true, []]);
    node.runFor(3_600_000);
    expect(node.runtime.containers()).toEqual([]);
    check();
  });

  const refusals = [
    ["StopContainer", "StopContainer plain/main#0"],
    ["StopPodSandbox", "StopPodSandbox plain"],
    ["RemovePodSandbox", "RemovePodSandbox plain"],
  ] as const;
  it.each(refusals)("tries a refused %s again after 10 to 15 s until it succeeds", (rpc, what) => {
    let broken = true;
    const { node, calls, takeCalls, looks, check } = podNode({
      pods: [podOf()],
      intercept: failing(rpc, () => broken),
    });
    node.runFor(1_000);
    takeCalls();
    node.dropPod("uid-1");
    node.runFor(60_000);
    const tries = calls.filter((call) => call.what === what);
    expect(tries.length).toBeGreaterThan(3);
    // The second round sees what was done before the refusal, so it follows at once.
    for (const gap of gaps(tries).slice(1)) expect([gap >= 10_000, gap <= 15_100]).toEqual([true, true]);
    expect(looks.length).toBeLessThan(30);
    broken = false;
    node.runFor(15_100);
    expect([node.pods(), node.runtime.sandboxes(), onDisk(node.files.paths())]).toEqual([[], [], []]);
    check();
  });

  it("retries a failed removal from disk, and reports the pod as removed only after it", () => {
    let broken = true;
    const { node, check } = podNode({
      pods: [podOf()],
      fileFault: (operation, path) =>
        broken && operation === "remove" && path.includes("pods/uid-1") ? "Io" : undefined,
    });
    node.runFor(1_000);
    node.dropPod("uid-1");
    node.runFor(60_000);
    expect(node.pods().length).toBe(1);
    broken = false;
    node.runFor(15_100);
    expect([node.pods(), onDisk(node.files.paths())]).toEqual([[], []]);
    check();
  });

  it("continues after the join deadline when a sync hangs, and reports the pod as removed only after the call's deadline", () => {
    const { node, takeCalls, check } = podNode({
      pods: [podOf()],
      intercept: (rpc) => (rpc === "CreateContainer" ? { kind: "hang" } : proceed),
    });
    node.runFor(1_000);
    takeCalls();
    node.dropPod("uid-1");
    node.runFor(9_900);
    expect(takeCalls()).toEqual([]);
    node.runFor(1_000);
    expect(takeCalls()).toEqual(["StopPodSandbox plain"]);
    node.runFor(108_000);
    expect([takeCalls(), node.pods().length]).toEqual([[], 1]);
    node.runFor(200);
    expect([takeCalls(), node.pods()]).toEqual([["RemovePodSandbox plain"], []]);
    check();
  });

  it("needs nothing from the runtime for a pod that never got there", () => {
    const { node, takeCalls, check } = podNode();
    node.runtime.setCondition("RuntimeReady", "starting");
    node.runFor(6_000);
    node.putPod(podOf());
    node.runFor(100);
    node.dropPod("uid-1");
    node.runFor(100);
    expect([takeCalls(), node.pods()]).toEqual([[], []]);
    check();
  });
});

describe("a start that outlasts its sync", () => {
  const SLOW_MS = 30_000;
  /** The first request of this kind takes long, and takes effect also when nobody waits for it any more. */
  const slowNode = (rpc: CriRpc, goesOn = true) => {
    let isSlow = true;
    const made = podNode({
      pods: [podOf()],
      intercept: (asked) => {
        if (asked !== rpc || !isSlow) return proceed;
        isSlow = false;
        return { kind: "delay", ms: SLOW_MS };
      },
      goesOn: () => goesOn,
    });
    made.node.runFor(1_000);
    made.takeCalls();
    return made;
  };
  const whole = ["RunPodSandbox plain", "CreateContainer plain/main#0", "StartContainer plain/main#0"];
  const rows = [
    ["RunPodSandbox", [], ["StopPodSandbox plain", "RemovePodSandbox plain"]],
    ["CreateContainer", ["StopPodSandbox plain"], ["RemovePodSandbox plain"]],
    ["StartContainer", ["StopPodSandbox plain"], ["RemoveContainer plain/main#0", "RemovePodSandbox plain"]],
  ] as const;

  it.each(rows)("%s: the next pod of the name waits for it, and for the end of what it made", (rpc, atJoin, after) => {
    const { node, takeCalls, check } = slowNode(rpc);
    node.dropPod("uid-1");
    node.putPod(podOf({ uid: "uid-2" }));
    node.runFor(SLOW_MS - 1_500);
    expect(takeCalls()).toEqual(atJoin);
    node.runFor(1_500);
    expect(takeCalls()).toEqual([...after, ...whole]);
    expect(node.pods().map(({ metadata }) => metadata.uid)).toEqual(["uid-2"]);
    check();
  });

  it("is cancelled with its kubelet", () => {
    const { node } = slowNode("RunPodSandbox", false);
    node.dropPod("uid-1");
    node.runFor(15_000);
    node.crashKubelet();
    node.runFor(60_000);
    expect(node.runtime.sandboxes()).toEqual([]);
  });
});

describe("one pod after the other", () => {
  it("starts a pod that returns while it stops again from its containers, and counts the restart", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()] });
    node.runFor(60_000);
    takeCalls();
    node.dropPod("uid-1");
    node.runFor(6);
    node.putPod(podOf());
    node.runFor(200);
    expect(takeCalls()).toEqual([
      "StopContainer plain/main#0",
      "StopPodSandbox plain",
      "StopPodSandbox plain",
      "RunPodSandbox plain",
      "CreateContainer plain/main#1",
      "StartContainer plain/main#1",
    ]);
    const status = node.pods()[0]?.status?.containerStatuses?.[0];
    expect([status?.restartCount, status?.lastState?.terminated?.exitCode]).toEqual([1, 143]);
    check();
  });

  it("starts a pod of the same UID from zero as soon as the first is gone, if its containers might not restart", () => {
    const pod = podOf({ spec: { restartPolicy: "OnFailure" } });
    const { node, takeCalls, check } = podNode({ pods: [pod] });
    node.runFor(60_000);
    takeCalls();
    node.dropPod("uid-1");
    node.runFor(6);
    node.putPod(pod);
    node.runFor(200);
    expect(takeCalls()).toEqual([
      "StopContainer plain/main#0",
      "StopPodSandbox plain",
      "RemoveContainer plain/main#0",
      "RemovePodSandbox plain",
      "RunPodSandbox plain",
      "CreateContainer plain/main#0",
      "StartContainer plain/main#0",
    ]);
    check();
  });

  it("starts a pod of the same UID that returns between two relists, without waiting for the second", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()], config: { resyncPeriodMs: 3_600_000 } });
    // A kubelet that starts now lists the pod.
    node.runFor(1_000);
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(60_000);
    node.dropPod("uid-1");
    node.runFor(60_000);
    takeCalls();
    node.putPod(podOf());
    node.runFor(200);
    expect(takeCalls()).toEqual(["RunPodSandbox plain", "CreateContainer plain/main#0", "StartContainer plain/main#0"]);
    check();
  });

  it("replaces an incarnation that a relist found while the calls run", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()], config: { resyncPeriodMs: 3_600_000 } });
    node.runFor(1_000);
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(60_000);
    takeCalls();
    node.dropPod("uid-1");
    node.putPod(podOf({ uid: "uid-2", spec: { containers: [containerOf({ image: NEW_IMAGE })] } }));
    node.runFor(200);
    expect(takeCalls()).toEqual([
      "StopContainer plain/main#0",
      "StopPodSandbox plain",
      "RemoveContainer plain/main#0",
      "RemovePodSandbox plain",
      "RunPodSandbox plain",
      "CreateContainer plain/main#0",
      "StartContainer plain/main#0",
    ]);
    expect(node.pods().map(({ metadata }) => metadata.uid)).toEqual(["uid-2"]);
    check();
  });

  it("keeps nothing of a pod that is gone", () => {
    const { node, check } = podNode();
    for (let n = 0; n < 20; n += 1) {
      node.putPod(podOf({ uid: `uid-${n}`, name: `pod-${n}` }));
      node.runFor(500);
      node.dropPod(`uid-${n}`);
      node.runFor(500);
    }
    node.runFor(60_000);
    expect([node.kubelet?.queries.runtimePods(), node.kubelet?.queries.pods()]).toEqual([[], []]);
    expect(node.files.paths().filter((path) => /uid-\d/.test(path))).toEqual([]);
    check();
  });
});
