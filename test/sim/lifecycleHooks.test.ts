/** Lifecycle hooks, the order of a pod's end, and its active deadline, on a whole simulated node. */
import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../src/core/api.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import type { SimProgram } from "../../src/sim/simProgram.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { simStory } from "../support/simStory.ts";

const POD = "demo/plain";

const exec = (...command: readonly string[]) => ({ exec: { command: [...command] } });
const container = (name: string, lifecycle?: Container["lifecycle"], more: Partial<Container> = {}): Container =>
  containerOf({ name, ...(lifecycle === undefined ? {} : { lifecycle }), ...more });
const sidecar = (name: string, lifecycle?: Container["lifecycle"]): Container =>
  container(name, lifecycle, { restartPolicy: "Always" });

/** Commands are `takes N` and `fails N`: they end after so many milliseconds. */
const program: SimProgram = {
  onTerm: { afterMs: 500, code: 0 },
  exec: ([word = "", ms = "0"]) => ({ afterMs: Number(ms), code: word === "fails" ? 7 : 0, stderr: word }),
};

/** A node with one pod of these containers, running for ten seconds. */
function nodeOf(spec: Partial<PodSpec>, programs: (name: string) => SimProgram = () => program): SimNode {
  const pod = podOf({ spec: { terminationGracePeriodSeconds: 20, ...spec } });
  const node = createSimNode({
    seed: 1,
    latency: () => 2,
    pods: [pod],
    programs: ({ container: { metadata } }) => programs(metadata?.name ?? ""),
  });
  node.runFor(10_000);
  return node;
}

/** Seconds since `sinceMs` and what happened: calls to stop or exec, exits, and events about hooks and kills. */
function endOf(node: SimNode, sinceMs: number): readonly string[] {
  return simStory(node, POD, /StopContainer|ExecSync|container exited|Hook/, sinceMs).map((line) => {
    const [at = "", ...rest] = line.split(" ");
    return `${(Number(at) - Math.floor(sinceMs / 100) / 10).toFixed(1)} ${rest.join(" ")}`;
  });
}

function dropAndSee(node: SimNode, forMs = 60_000): readonly string[] {
  const sinceMs = node.clock.monotonicMs();
  node.dropPod("uid-1");
  node.runFor(forMs);
  return endOf(node, sinceMs);
}

describe("postStart", () => {
  it("holds back the containers after it, and shows its own as not started, until it has ended", () => {
    const node = createSimNode({
      seed: 1,
      latency: () => 2,
      pods: [
        podOf({
          spec: { containers: [container("first", { postStart: exec("takes", "3000") }), container("second")] },
        }),
      ],
      programs: () => program,
    });
    expect(node.runUntil(() => node.running().length === 1, 10_000)).toBe(true);
    node.runFor(2_500);
    const statusOf = (name: string) => {
      const found = node.pods()[0]?.status?.containerStatuses?.find((status) => status.name === name);
      return [found?.started, found?.ready, Object.keys(found?.state ?? {})[0]];
    };
    expect([statusOf("first"), statusOf("second")]).toEqual([
      [false, false, "running"],
      [false, false, "waiting"],
    ]);
    node.runFor(1_000);
    expect([statusOf("first"), statusOf("second")]).toEqual([
      [true, true, "running"],
      [true, true, "running"],
    ]);
  });

  it("that fails ends the container, says so without its output in events, and counts as a failed start", () => {
    const node = nodeOf({ containers: [container("main", { postStart: exec("fails", "100") })] });
    const story = simStory(node, POD, /FailedPostStartHook|Killing|container exited|^status .*Error/);
    expect(story.slice(0, 4).map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "FailedPostStartHook: PostStartHook failed",
      "Killing: FailedPostStartHook",
      "main#0 exited code 0",
      "Running main=PostStartHookError#0",
    ]);
    expect(node.pods()[0]?.status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe("CrashLoopBackOff");
    expect(node.violations).toEqual([]);
  });

  it("of kind tcpSocket fails, as it always has", () => {
    const node = nodeOf({ containers: [container("main", { postStart: { tcpSocket: { port: 80 } } })] });
    expect(simStory(node, POD, /FailedPostStartHook:/).length).toBeGreaterThan(0);
  });
});

describe("preStop", () => {
  it("runs before the stop signal and is counted in the grace period", () => {
    const node = nodeOf({ containers: [container("main", { preStop: exec("takes", "5000") })] });
    expect(dropAndSee(node)).toEqual([
      "0.0 main#0 ExecSync",
      "5.0 main#0 StopContainer within 15 s",
      "5.5 main#0 exited code 0",
    ]);
  });

  it("is cut off when the grace period is over; the signal gets two seconds all the same", () => {
    const node = nodeOf({ containers: [container("main", { preStop: exec("takes", "60000") })] }, () => ({
      ...program,
      onTerm: "ignored",
    }));
    expect(dropAndSee(node)).toEqual([
      "0.0 main#0 ExecSync",
      "20.0 main#0 StopContainer within 2 s",
      "22.0 main#0 exited code 137",
    ]);
  });

  it("that fails is told as an event, and the container is stopped all the same", () => {
    const node = nodeOf({ containers: [container("main", { preStop: exec("fails", "1000") })] });
    expect(dropAndSee(node)).toEqual([
      "0.0 main#0 ExecSync",
      "1.0 main#0 StopContainer within 19 s",
      "1.0 FailedPreStopHook: PreStopHook failed",
      "1.5 main#0 exited code 0",
    ]);
  });

  it("of kind sleep waits, and counts when it is cut short", () => {
    const node = nodeOf({
      containers: [
        container("nap", { preStop: { sleep: { seconds: 4 } } }),
        container("night", { preStop: { sleep: { seconds: 20 } } }),
      ],
      terminationGracePeriodSeconds: 10,
    });
    expect(dropAndSee(node).filter((line) => line.includes("StopContainer"))).toEqual([
      "4.0 nap#0 StopContainer within 6 s",
      "10.0 night#0 StopContainer within 2 s",
    ]);
    expect(node.telemetry.value("kubelet_sleep_action_terminated_early_total")).toBe(1);
  });

  it("runs once per instance: a shorter grace period cuts it off and begins with the signal", () => {
    const pod = podOf({
      spec: { terminationGracePeriodSeconds: 30, containers: [container("main", { preStop: exec("takes", "20000") })] },
    });
    const node = createSimNode({
      seed: 1,
      latency: () => 2,
      pods: [pod],
      programs: () => ({ ...program, onTerm: "ignored" }),
    });
    node.runFor(10_000);
    const deleted = (graceSeconds: number) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        deletionTimestamp: "2026-01-01T00:00:10Z",
        deletionGracePeriodSeconds: graceSeconds,
      },
    });
    node.putPod(deleted(30));
    node.runFor(5_000);
    node.putPod(deleted(4));
    node.runFor(20_000);
    expect(endOf(node, 10_000)).toEqual([
      "0.0 main#0 ExecSync",
      "5.0 main#0 StopContainer within 4 s",
      "9.0 main#0 exited code 137",
    ]);
  });

  it("runs before a restart by a liveness probe too", () => {
    const main = container(
      "main",
      { preStop: exec("takes", "1000") },
      { livenessProbe: { ...exec("fails"), periodSeconds: 1, failureThreshold: 1 } },
    );
    const node = nodeOf({ containers: [main] });
    const words = endOf(node, 0).map((line) => line.split(" ").slice(1).join(" "));
    expect(words.slice(0, 4)).toEqual([
      "main#0 ExecSync",
      "main#0 ExecSync",
      "main#0 StopContainer within 19 s",
      "main#0 exited code 0",
    ]);
  });
});

describe("the end of a pod with sidecars", () => {
  it("runs all hooks at once, then stops the main containers, then the sidecars in reverse, all within one grace period", () => {
    const node = nodeOf({
      initContainers: [sidecar("proxy", { preStop: exec("takes", "3000") }), sidecar("logs")],
      containers: [container("main", { preStop: exec("takes", "5000") }), container("other")],
    });
    expect(dropAndSee(node)).toEqual([
      "0.0 other#0 StopContainer within 20 s",
      "0.0 main#0 ExecSync",
      "0.0 proxy#0 ExecSync",
      "0.5 other#0 exited code 0",
      "5.0 main#0 StopContainer within 15 s",
      "5.5 main#0 exited code 0",
      "5.5 logs#0 StopContainer within 15 s",
      "6.0 logs#0 exited code 0",
      "6.0 proxy#0 StopContainer within 14 s",
      "6.5 proxy#0 exited code 0",
    ]);
    expect(node.violations).toEqual([]);
  });

  it("does not wait for its turn longer than the grace period", () => {
    const node = nodeOf(
      { initContainers: [sidecar("proxy")], containers: [container("main")], terminationGracePeriodSeconds: 6 },
      (name) => (name === "main" ? { onTerm: "ignored" } : program),
    );
    expect(dropAndSee(node)).toEqual([
      "0.0 main#0 StopContainer within 6 s",
      "6.0 proxy#0 StopContainer within 2 s",
      "6.0 main#0 exited code 137",
      "6.5 proxy#0 exited code 0",
    ]);
  });
});

describe("activeDeadlineSeconds", () => {
  it("ends the pod in time, as Failed for DeadlineExceeded, and does not start it again", () => {
    const node = nodeOf({ activeDeadlineSeconds: 15, containers: [container("main")] });
    node.runFor(30_000);
    expect(simStory(node, POD, /DeadlineExceeded|Killing|container exited/)).toEqual([
      "15.0 DeadlineExceeded: Pod was active on the node longer than the specified deadline",
      "15.0 Failed (DeadlineExceeded) main=running+#0",
      "15.0 Killing: Stopping container main",
      "15.5 main#0 exited code 0",
      "15.5 Failed (DeadlineExceeded) main=Completed(0)#0",
    ]);
    const { phase, reason, message } = node.pods()[0]?.status ?? {};
    expect([phase, reason, message, node.running()]).toEqual([
      "Failed",
      "DeadlineExceeded",
      "Pod was active on the node longer than the specified deadline",
      [],
    ]);
    expect(node.violations).toEqual([]);
  });

  it("counts on over a restart of the kubelet, and holds for a pod whose time passed meanwhile", () => {
    const node = nodeOf({ activeDeadlineSeconds: 15, containers: [container("main")] });
    node.crashKubelet();
    node.runFor(10_000);
    node.restartKubelet();
    node.runFor(5_000);
    expect([node.pods()[0]?.status?.reason, node.running()]).toEqual(["DeadlineExceeded", []]);
    expect(simStory(node, POD, /StartContainer/)).toHaveLength(1);
  });
});
