import { describe, expect, it } from "vitest";
import type { CriRpc } from "../../../../src/core/criOperations.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { SimAction } from "../../../../src/sim/runtime/simCall.ts";
import { exitsWith, runsForever } from "../../../../src/sim/runtime/simProgram.ts";
import { type Deed, gaps, podNode } from "../../../support/podNode.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

/** Seconds from each exit to the start that follows it, of a container that runs for `ranMs`. */
const waits = (calls: readonly Deed[], ranMs: number): readonly number[] =>
  gaps(calls.filter(({ what }) => what.startsWith("StartContainer"))).map((ms) => Math.round((ms - ranMs) / 1000));

describe("podWorker: crash loops", () => {
  it("restarts at once, then after 10, 20, 40, 80, 160 s and every 300 s, counted from the exit", () => {
    const { node, calls, phase, waiting, check } = podNode({ pods: [podOf()], programs: () => exitsWith(1, 100) });
    node.runFor(1_300_000);
    expect(waits(calls, 100)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
    expect([phase("uid-1"), waiting("uid-1")]).toEqual(["Running", "CrashLoopBackOff"]);
    check();
  });

  it("resets the backoff after a run of more than ten minutes", () => {
    let runMs = 100;
    const { node, calls, check } = podNode({ pods: [podOf()], programs: () => exitsWith(1, runMs) });
    node.runFor(75_000);
    // The start at 70 s runs long; the ones after it crash at once again.
    runMs = 601_000;
    node.runFor(85_000);
    runMs = 100;
    calls.length = 0;
    node.runFor(800_000);
    expect(waits(calls, 100).slice(0, 4)).toEqual([10, 20, 40, 80]);
    check();
  });

  it("is each container's own, and does not hold back its neighbours", () => {
    const containers = [containerOf({ name: "crashes" }), containerOf({ name: "runs" })];
    const { node, calls, check } = podNode({
      pods: [podOf({ spec: { containers } })],
      programs: ({ container }) => (container.metadata?.name === "crashes" ? exitsWith(1, 100) : runsForever),
    });
    node.runFor(60_000);
    calls.length = 0;
    node.kill("demo/plain/runs");
    node.runFor(500);
    expect(calls.map(({ what }) => what).slice(0, 2)).toEqual([
      "CreateContainer plain/runs#1",
      "StartContainer plain/runs#1",
    ]);
    check();
  });

  it("also holds back a container that ends well, but only one that is to run again", () => {
    const pods = ["Always", "OnFailure", "Never"].map((restartPolicy) =>
      podOf({ uid: restartPolicy, name: restartPolicy.toLowerCase(), spec: { restartPolicy } }),
    );
    const { node, calls, phase, check } = podNode({ pods, programs: () => exitsWith(0, 100) });
    node.runFor(60_000);
    const startsOf = (name: string) => calls.filter(({ what }) => what.startsWith(`StartContainer ${name}/`)).length;
    expect([startsOf("always"), startsOf("onfailure"), startsOf("never")]).toEqual([4, 1, 1]);
    expect([phase("Always"), phase("OnFailure"), phase("Never")]).toEqual(["Running", "Succeeded", "Succeeded"]);
    check();
  });

  it("reports each backoff once, not with every inspection", () => {
    const { node, events, check } = podNode({ pods: [podOf()], programs: () => exitsWith(1, 100) });
    node.runFor(69_000);
    expect(events.filter(({ what }) => what === "BackOff plain").length).toBe(3);
    check();
  });
});

describe("podWorker: lives of the kubelet", () => {
  it("adopts running containers after a restart: stops, starts and counts none again", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()] });
    node.runFor(1_000);
    node.kill("demo/plain/main");
    node.runFor(60_000);
    const status = () => node.pods()[0]?.status?.containerStatuses?.[0];
    const before = status();
    takeCalls();
    node.crashKubelet();
    node.runFor(60_000);
    node.restartKubelet();
    node.runFor(60_000);
    expect([takeCalls(), status()]).toEqual([[], before]);
    check();
  });

  it("stops a pod that was removed from its source during a restart, even without its spec", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()] });
    node.runFor(1_000);
    node.crashKubelet();
    node.dropPod("uid-1");
    takeCalls();
    node.restartKubelet();
    node.runFor(2_000);
    expect(takeCalls()).toEqual([
      "StopContainer plain/main#0",
      "StopPodSandbox plain",
      "RemoveContainer plain/main#0",
      "RemovePodSandbox plain",
    ]);
    check();
  });

  it("keeps running pods until all sources have reported", () => {
    const { node, takeCalls, check } = podNode({
      pods: [podOf()],
      config: { sources: ["api", "http"] },
      pageFate: () => ({ kind: "hang" }),
    });
    node.runFor(1_000);
    node.crashKubelet();
    node.dropPod("uid-1");
    takeCalls();
    node.restartKubelet();
    node.runFor(600_000);
    expect([takeCalls(), node.running()]).toEqual([[], ["demo/plain/main#0"]]);
    check();
  });

  it("starts nothing before the runtime was listed", () => {
    let away = true;
    const { node, takeCalls, check } = podNode({
      pods: [podOf()],
      intercept: (rpc) =>
        away && rpc === "ListContainers"
          ? { kind: "fail", error: kubeletError("Unavailable", "starting") }
          : { kind: "proceed" },
    });
    node.runFor(30_000);
    expect(takeCalls()).toEqual([]);
    away = false;
    node.runFor(1_200);
    expect(takeCalls()).toEqual(["RunPodSandbox plain", "CreateContainer plain/main#0", "StartContainer plain/main#0"]);
    check();
  });
});

describe("podWorker: admission and end", () => {
  it("fails a rejected pod without runtime calls, and removes it when its source does", () => {
    const { node, takeCalls, events, phase, check } = podNode({
      pods: [podOf({ spec: { nodeSelector: { disk: "none" } } })],
    });
    node.runFor(1_000);
    expect([phase("uid-1"), node.pods()[0]?.status?.reason, takeCalls()]).toEqual(["Failed", "NodeAffinity", []]);
    expect(events.map(({ what }) => what)).toEqual(["NodeAffinity plain"]);
    node.dropPod("uid-1");
    node.runFor(100);
    expect(node.pods()).toEqual([]);
    check();
  });

  it("admits a rejected pod again when its source removes and adds it", () => {
    const refused = podOf({ spec: { nodeSelector: { disk: "none" } } });
    const { node, phase } = podNode({ pods: [refused] });
    node.runFor(1_000);
    // Both reach the registry before its own word about the first has come round.
    node.dropPod("uid-1");
    node.putPod(podOf());
    node.runFor(60_000);
    expect([phase("uid-1"), node.running()]).toEqual(["Running", ["demo/plain/main#0"]]);
  });

  it("stops a completed pod, keeps its status, and removes it with its manifest", () => {
    const pod = podOf({ spec: { restartPolicy: "Never" } });
    const { node, takeCalls, phase, check } = podNode({ pods: [pod], programs: () => exitsWith(3, 100) });
    node.runFor(60_000);
    expect([phase("uid-1"), takeCalls().slice(3)]).toEqual(["Failed", ["StopPodSandbox plain"]]);
    node.runFor(600_000);
    expect(takeCalls()).toEqual([]);
    node.dropPod("uid-1");
    node.runFor(100);
    expect([takeCalls(), node.pods()]).toEqual([["RemoveContainer plain/main#0", "RemovePodSandbox plain"], []]);
    check();
  });

  it("a drain stops and removes everything, and completes", () => {
    const pods = [podOf(), podOf({ uid: "uid-2", name: "other" })];
    const { node, check } = podNode({ pods });
    node.runFor(1_000);
    let drained = false;
    node.kubelet?.drain(10_000).subscribe({ complete: () => (drained = true) });
    node.runFor(1_000);
    expect([drained, node.pods(), node.runtime.sandboxes()]).toEqual([true, [], []]);
    check();
  });
});

describe("podWorker: no fault of the runtime causes a busy loop", () => {
  const RPCS: readonly CriRpc[] = [
    "RunPodSandbox",
    "StopPodSandbox",
    "RemovePodSandbox",
    "CreateContainer",
    "StartContainer",
    "StopContainer",
    "RemoveContainer",
    "ListPodSandbox",
    "ListContainers",
    "ContainerStatus",
    "PodSandboxStatus",
    "ImageStatus",
  ];
  const error = kubeletError("Unknown", "the runtime says no");
  const faults: readonly SimAction[] = [{ kind: "fail", error }, { kind: "loseReply", error }, { kind: "hang" }];
  const rows = RPCS.flatMap((rpc) => faults.map((fault) => [rpc, fault.kind, fault] as const));

  it.each(rows)("%s: %s", (rpc, _kind, fault) => {
    const pods = [podOf(), podOf({ uid: "uid-2", name: "crashes", spec: { terminationGracePeriodSeconds: 2 } })];
    let isBroken = true;
    const { node, calls, looks, check } = podNode({
      pods,
      programs: ({ sandbox }) => (sandbox.metadata?.name === "crashes" ? exitsWith(1, 100) : runsForever),
      intercept: (asked) => (isBroken && asked === rpc ? fault : { kind: "proceed" }),
    });
    node.runFor(60_000);
    node.killSandbox("demo/plain");
    node.runFor(60_000);
    for (const { metadata } of pods) node.dropPod(metadata.uid);
    node.runFor(60_000);
    // Three minutes, two pods: some dozens of tries, while a circle would make many thousands.
    expect([calls.length < 250, looks.length < 400]).toEqual([true, true]);
    isBroken = false;
    // Hanging calls end at their deadline of two minutes, failed ones are tried again after 15 s at most.
    node.runFor(150_000);
    expect([node.pods(), node.runtime.sandboxes()]).toEqual([[], []]);
    check();
  });
});
