import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { CriRpc } from "../../../../src/core/criOperations.ts";
import type { SimIntercept } from "../../../../src/sim/runtime/simCall.ts";
import { exitsWith, runsForever, type SimPrograms } from "../../../../src/sim/runtime/simProgram.ts";
import { gaps, NEW_IMAGE, podNode } from "../../../support/podNode.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const refused = kubeletError("Unknown", "the runtime says no");
const proceed = { kind: "proceed" } as const;
/** Lets this rpc fail while `isOn`. */
const failing =
  (rpc: CriRpc, isOn: () => boolean = () => true): SimIntercept =>
  (asked) =>
    asked === rpc && isOn() ? { kind: "fail", error: refused } : proceed;
/** Programs by container name; the rest run for ever. */
const programs =
  (byName: Readonly<Record<string, ReturnType<SimPrograms>>>): SimPrograms =>
  ({ container }) =>
    byName[container.metadata?.name ?? ""] ?? runsForever;

/** Requests hold 64-bit integers. */
const shown = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

describe("syncPod: the steps", () => {
  it("makes the sandbox, then the containers in the order of the spec", () => {
    const pod = podOf({ spec: { containers: [containerOf({ name: "b" }), containerOf({ name: "a" })] } });
    const { node, takeCalls, check } = podNode({ pods: [pod] });
    node.runFor(1_000);
    expect(takeCalls()).toEqual([
      "RunPodSandbox plain",
      "CreateContainer plain/b#0",
      "StartContainer plain/b#0",
      "CreateContainer plain/a#0",
      "StartContainer plain/a#0",
    ]);
    check();
  });

  it("starts init containers one after the other, a sidecar among them, and the rest after the last", () => {
    const initContainers = [
      containerOf({ name: "first" }),
      containerOf({ name: "sidecar", restartPolicy: "Always" }),
      containerOf({ name: "second" }),
    ];
    const { node, calls, check } = podNode({
      pods: [podOf({ spec: { initContainers } })],
      programs: programs({ first: exitsWith(0, 1_000), second: exitsWith(0, 1_000) }),
    });
    node.runFor(5_000);
    expect(calls.map(({ what }) => what)).toEqual([
      "RunPodSandbox plain",
      "CreateContainer plain/first#0",
      "StartContainer plain/first#0",
      "CreateContainer plain/sidecar#0",
      "StartContainer plain/sidecar#0",
      "CreateContainer plain/second#0",
      "StartContainer plain/second#0",
      "CreateContainer plain/main#0",
      "StartContainer plain/main#0",
    ]);
    expect(node.running()).toEqual(["demo/plain/main#0", "demo/plain/sidecar#0"]);
    check();
  });

  it("replaces a dead sandbox: stops its containers, then the sandbox, then starts new ones", () => {
    const { node, takeCalls, events, check } = podNode({ pods: [podOf()] });
    node.runFor(1_000);
    takeCalls();
    node.killSandbox("demo/plain");
    node.runFor(1_000);
    expect(takeCalls()).toEqual([
      "StopContainer plain/main#0",
      "StopPodSandbox plain",
      "RunPodSandbox plain",
      "CreateContainer plain/main#1",
      "StartContainer plain/main#1",
    ]);
    expect(events.map(({ what }) => what)).toContain("SandboxChanged plain");
    check();
  });

  it("restarts a container whose definition changed, and leaves the others alone", () => {
    const containers = [containerOf({ name: "a" }), containerOf({ name: "b" })];
    const { node, takeCalls, check } = podNode({ pods: [podOf({ spec: { containers } })] });
    node.runFor(1_000);
    takeCalls();
    const changed = [containerOf({ name: "a", image: NEW_IMAGE }), containerOf({ name: "b" })];
    node.putPod(podOf({ spec: { containers: changed } }));
    node.runFor(1_000);
    expect(takeCalls()).toEqual(["StopContainer plain/a#0", "CreateContainer plain/a#1", "StartContainer plain/a#1"]);
    check();
  });

  it("removes old attempts after the start of the new one", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()] });
    node.runFor(1_000);
    for (const _ of [1, 2]) {
      node.kill("demo/plain/main");
      node.runFor(700_000);
    }
    takeCalls();
    node.kill("demo/plain/main");
    node.runFor(700_000);
    expect(takeCalls()).toEqual([
      "CreateContainer plain/main#3",
      "StartContainer plain/main#3",
      "RemoveContainer plain/main#1",
    ]);
    check();
  });

  it("does nothing to a pod that is as it should be", () => {
    const { node, takeCalls, check } = podNode({ pods: [podOf()] });
    node.runFor(1_000);
    takeCalls();
    node.runFor(3_600_000);
    expect(takeCalls()).toEqual([]);
    check();
  });
});

describe("syncPod: failures", () => {
  const retried = ["RunPodSandbox", "CreateContainer"] as const;
  it.each(retried)("retries a rejected %s after 10 to 15 s, not with every inspection", (rpc) => {
    const { node, calls, looks, check } = podNode({ pods: [podOf()], intercept: failing(rpc) });
    node.runFor(120_000);
    const tries = calls.filter(({ what }) => what.startsWith(rpc));
    expect(tries.length).toBeGreaterThan(7);
    for (const gap of gaps(tries)) expect([gap >= 10_000, gap <= 15_100]).toEqual([true, true]);
    // A look per try, the audits and a few more: nothing that turns in circles.
    expect(looks.length).toBeLessThan(4 * tries.length);
    check();
  });

  it("shows why it waits, and starts as soon as it can when the definition changes", () => {
    let broken = true;
    const { node, waiting, phase, check } = podNode({
      pods: [podOf()],
      intercept: failing("CreateContainer", () => broken),
    });
    node.runFor(5_000);
    expect(waiting("uid-1")).toBe("CreateContainerError");
    broken = false;
    node.putPod(podOf({ labels: { now: "fixed" } }));
    node.runFor(1_000);
    expect(phase("uid-1")).toBe("Running");
    check();
  });

  it("reports a container that cannot be created once, also beside a created one, and retries after a dead sandbox", () => {
    const { node, calls, events, check } = podNode({
      pods: [podOf({ spec: { containers: [containerOf(), containerOf({ name: "broken" })] } })],
      intercept: (rpc, request) =>
        rpc === "CreateContainer" && JSON.stringify(request, shown).includes('"broken"')
          ? { kind: "fail", error: refused }
          : proceed,
    });
    const tries = () => calls.filter(({ what }) => what === "CreateContainer plain/broken#0").length;
    node.runFor(5_000);
    expect([tries(), events.filter(({ what }) => what === "Failed plain").length]).toEqual([1, 1]);
    node.killSandbox("demo/plain");
    node.runFor(4_000);
    expect(tries()).toBe(2);
    check();
  });

  it("a container that cannot be created keeps no other from starting, nor from being restarted", () => {
    const containers = [containerOf({ name: "bad" }), containerOf({ name: "good" })];
    const { node, calls, check } = podNode({
      pods: [podOf({ spec: { containers } })],
      intercept: (rpc, request) => {
        const { config } = request as { readonly config?: { readonly metadata?: { readonly name: string } } };
        return rpc === "CreateContainer" && config?.metadata?.name === "bad"
          ? { kind: "fail", error: refused }
          : proceed;
      },
    });
    node.runFor(2_000);
    expect(node.running()).toEqual(["demo/plain/good#0"]);
    node.kill("demo/plain/good");
    node.runFor(1_000);
    expect(node.running()).toEqual(["demo/plain/good#1"]);
    expect(calls.filter(({ what }) => what === "CreateContainer plain/bad#0").length).toBeLessThan(5);
    check();
  });

  it("tries a refused stop of a changed container again after 10 to 15 s", () => {
    const { node, calls, takeCalls, check } = podNode({ pods: [podOf()], intercept: failing("StopContainer") });
    node.runFor(1_000);
    takeCalls();
    node.putPod(podOf({ spec: { containers: [containerOf({ image: NEW_IMAGE })] } }));
    node.runFor(60_000);
    expect(new Set(calls.map(({ what }) => what))).toEqual(new Set(["StopContainer plain/main#0"]));
    expect(calls.length).toBeGreaterThan(3);
    for (const gap of gaps(calls)) expect([gap >= 10_000, gap <= 15_100]).toEqual([true, true]);
    check();
  });

  it("does not loop when a removal fails", () => {
    const { node, calls, looks, check } = podNode({
      pods: [podOf()],
      programs: () => exitsWith(1, 100),
      intercept: failing("RemoveContainer"),
    });
    node.runFor(600_000);
    const tries = calls.filter(({ what }) => what.startsWith("RemoveContainer"));
    // Three old attempts at most, each tried once per retry and once per sync.
    expect(tries.length).toBeGreaterThan(10);
    expect(tries.length).toBeLessThan(300);
    expect(looks.length).toBeLessThan(600);
    check();
  });

  it("adopts what a call did although its answer was lost: nothing is made twice", () => {
    const lost = kubeletError("DeadlineExceeded", "no answer");
    const seen = new Set<CriRpc>();
    const { node, count, check } = podNode({
      pods: [podOf()],
      intercept: (rpc) => {
        if (!["RunPodSandbox", "StartContainer"].includes(rpc) || seen.has(rpc)) return proceed;
        seen.add(rpc);
        return { kind: "loseReply", error: lost };
      },
    });
    node.runFor(60_000);
    expect([count("RunPodSandbox"), count("StartContainer"), node.running()]).toEqual([1, 1, ["demo/plain/main#0"]]);
    check();
  });

  it("waits for the pod network, and continues when it is ready", () => {
    const { node, count, events, check } = podNode();
    node.runtime.setCondition("NetworkReady", "no CNI configuration");
    node.runFor(6_000);
    node.putPod(podOf());
    node.putPod(podOf({ uid: "uid-2", name: "host", spec: { hostNetwork: true } }));
    node.runFor(30_000);
    expect([count("RunPodSandbox plain"), count("RunPodSandbox host")]).toEqual([0, 1]);
    expect(events.map(({ what }) => what)).toContain("NetworkNotReady plain");
    node.runtime.setCondition("NetworkReady", "");
    node.runFor(5_100);
    expect(count("RunPodSandbox plain")).toBe(1);
    check();
  });

  it("a fault inside one pod's step is that pod's failure: the kubelet and the other pods go on", () => {
    // No validation stands between this source and the kubelet: half a second has no place in a CRI request.
    const odd = podOf({ uid: "odd", name: "odd", spec: { terminationGracePeriodSeconds: 2.5 } });
    const { node, phase } = podNode({ pods: [odd] });
    node.runFor(1_000);
    node.dropPod("odd");
    node.putPod(podOf({ uid: "good", name: "good" }));
    node.runFor(30_000);
    expect(phase("good")).toBe("Running");
  });
});

describe("syncPod: nothing to decide from", () => {
  it("waits without spinning when it is time for a restart and the runtime is not ready", () => {
    const { node, takeCalls, count, check } = podNode({ pods: [podOf()], programs: () => exitsWith(1, 100) });
    node.runFor(15_000);
    node.runtime.setCondition("RuntimeReady", "restarting");
    node.runFor(6_000);
    takeCalls();
    node.runFor(60_000);
    // Garbage collection keeps one dead instance.
    expect(takeCalls()).toEqual(["RemoveContainer plain/main#1"]);
    node.runtime.setCondition("RuntimeReady", "");
    node.runFor(5_100);
    expect(count("StartContainer plain/main#3")).toBe(1);
    check();
  });

  it("waits without spinning when it is time for a restart and the pod cannot be inspected", () => {
    let hung = false;
    const { node, takeCalls, count, check } = podNode({
      pods: [podOf()],
      programs: () => exitsWith(1, 100),
      intercept: (rpc) => (hung && rpc === "ListContainers" ? { kind: "hang" } : proceed),
    });
    // The second restart is due at about 12 s: what the first start did is not looked at any more.
    node.runUntil(() => count("StartContainer plain/main#1") === 1, 10_000);
    hung = true;
    takeCalls();
    node.runFor(60_000);
    expect(takeCalls()).toEqual([]);
    hung = false;
    node.runFor(20_000);
    expect(count("StartContainer plain/main#2")).toBe(1);
    check();
  });
});
