/** A whole node whose machine shuts down: order, budgets, statuses, cancellation, the next boot. */
import { describe, expect, it } from "vitest";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createSimLogind } from "../../src/sim/host/simLogind.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { ignoresTerm } from "../../src/sim/runtime/simProgram.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const CRITICAL = 2_000_000_000;
const PERIODS = [
  { priority: 0, seconds: 20 },
  { priority: 1_000, seconds: 10 },
  { priority: CRITICAL, seconds: 5 },
];
const STATE_FILE = "/var/lib/kubelet/graceful_node_shutdown_state";
const STATIC = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "agent", namespace: "default" },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }], terminationGracePeriodSeconds: 1 },
};

/** A node with a login manager, and what became visible outside. */
function machine(options: Partial<SimNodeOptions> = {}) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2 });
  const downs: number[] = [];
  const logind = createSimLogind({
    clock,
    goDown() {
      downs.push(scheduler.now());
      node.powerOff();
    },
  });
  const ends: string[] = [];
  const node = createSimNode({
    seed: "one",
    scheduler,
    api: server,
    logind: logind.port,
    images: [simImage("registry.example/app:1")],
    // The container ends with its grace period.
    programs: () => ignoresTerm,
    watch(observation) {
      if (observation.kind !== "change" || observation.change.kind !== "container exited") return;
      ends.push(`${Math.round((observation.atMs - begunMs) / 1_000)} ${observation.change.name.split("/")[1]}`);
    },
    ...options,
    config: { nodeName: "one", shutdownPeriods: PERIODS, ...options.config },
  });
  let begunMs = 0;
  const put = (name: string, more: Parameters<typeof newPod>[1] = {}): void => {
    server.put("pods", newPod(name, { nodeName: "one", containers: [containerOf()], ...more }));
  };
  const statusOf = (name: string) => server.object("pods", { namespace: "default", name })?.status;
  const ready = () => server.object("nodes", { name: "one" })?.status?.conditions?.find(({ type }) => type === "Ready");
  return {
    ...{ server, node, logind, put, statusOf, downs, ends, ready },
    begin() {
      begunMs = scheduler.now();
      logind.begin();
    },
    downAfter: () => downs.map((at) => Math.round((at - begunMs) / 1_000)),
    events: (reason: string) =>
      node.trace.lines
        .filter((line) => line.includes(` ${reason}: `))
        .map((line) => line.slice(line.indexOf(": ") + 2)),
    state: () => JSON.parse(node.files.read(STATE_FILE) ?? "{}") as { startTime?: string; endTime?: string },
  };
}

describe("a node whose machine shuts down", () => {
  it("holds a lock, and has made the login manager allow its delay", () => {
    const { node, logind } = machine();
    node.runFor(5_000);
    expect([logind.locks, logind.delayMs]).toEqual([1, 35_000]);
  });

  it("ends pods in order of priority, reports them, and then lets the machine go down", () => {
    const { node, put, begin, ends, statusOf, ready, downAfter, events, state } = machine();
    put("low", { terminationGracePeriodSeconds: 3 });
    put("lower", { priority: -7, terminationGracePeriodSeconds: 300 });
    put("high", { priority: 1_500, terminationGracePeriodSeconds: 4 });
    put("critical", { priority: CRITICAL, terminationGracePeriodSeconds: 2 });
    node.runFor(30_000);
    begin();
    node.runFor(1_000);
    expect(ready()).toMatchObject({ status: "False", reason: "KubeletNotReady", message: "node is shutting down" });
    node.runFor(60_000);
    expect(ends).toEqual(["3 low", "20 lower", "24 high", "26 critical"]);
    expect(downAfter()).toEqual([26]);
    for (const name of ["low", "lower", "high", "critical"]) {
      const message = "Pod was terminated in response to imminent node shutdown.";
      expect(statusOf(name)).toMatchObject({ phase: "Failed", reason: "Terminated", message });
      expect(statusOf(name)?.conditions).toContainEqual(
        expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet", message }),
      );
    }
    expect(events("Shutdown")).toEqual(["Shutdown manager detected shutdown event"]);
    const { startTime = "", endTime = "" } = state();
    expect(Date.parse(endTime) - Date.parse(startTime)).toBeGreaterThan(25_000);
  });

  it("refuses new pods meanwhile", () => {
    const { node, put, begin, statusOf } = machine();
    put("old", { terminationGracePeriodSeconds: 10 });
    node.runFor(10_000);
    begin();
    node.runFor(1_000);
    put("new", { priority: CRITICAL });
    node.runFor(2_000);
    expect(statusOf("new")).toMatchObject({
      phase: "Failed",
      reason: "NodeShutdown",
      message: "Pod was rejected: Pod was rejected as the node is shutting down.",
    });
  });

  it("does not go down before the API server knows the statuses, and not later than after all periods", () => {
    const { server, node, put, begin, downAfter } = machine();
    put("low", { terminationGracePeriodSeconds: 1 });
    node.runFor(10_000);
    server.setNetwork("refused");
    begin();
    node.runFor(60_000);
    expect(downAfter()).toEqual([35]);
  });

  it("goes on as before when the shutdown is cancelled: static pods start again, others stay Failed", () => {
    const { node, put, begin, logind, ready, statusOf, events, downs } = machine({
      manifests: { "agent.yaml": JSON.stringify(STATIC) },
    });
    put("low", { terminationGracePeriodSeconds: 1 });
    put("high", { priority: 1_500 });
    node.runFor(20_000);
    begin();
    node.runFor(500);
    node.putManifest("late.yaml", JSON.stringify({ ...STATIC, metadata: { name: "late", namespace: "default" } }));
    node.runFor(500);
    expect(logind.cancel()).toBe(true);
    node.runFor(40_000);
    expect(downs).toEqual([]);
    expect(logind.locks).toBe(1);
    expect(ready()).toMatchObject({ status: "True" });
    expect([statusOf("low")?.phase, statusOf("high")?.phase]).toEqual(["Failed", "Running"]);
    expect([statusOf("agent-one")?.phase, statusOf("late-one")?.phase]).toEqual(["Running", "Running"]);
    expect(events("Shutdown")).toEqual([
      "Shutdown manager detected shutdown event",
      "Shutdown manager detected shutdown cancellation",
    ]);
    put("next");
    node.runFor(10_000);
    expect(statusOf("next")?.phase).toBe("Running");
  });

  it("reports why a static pod cannot start again after a cancelled shutdown", () => {
    const { node, put, begin, logind } = machine();
    put("old", { terminationGracePeriodSeconds: 10 });
    node.runFor(20_000);
    begin();
    node.runFor(500);
    const containers = [{ ...STATIC.spec.containers[0], resources: { requests: { cpu: "1k" } } }];
    const metadata = { name: "huge", namespace: "default" };
    node.putManifest("huge.yaml", JSON.stringify({ ...STATIC, metadata, spec: { ...STATIC.spec, containers } }));
    node.runFor(500);
    expect(logind.cancel()).toBe(true);
    node.runFor(10_000);
    const huge = node.pods().find(({ metadata }) => metadata.name === "huge-one");
    // Static pods are critical, so the node tries preemption first.
    expect(huge?.status).toMatchObject({ phase: "Failed", reason: "UnexpectedAdmissionError" });
  });

  it("starts static pods again after the next boot, and shows the times of the last shutdown", () => {
    const { node, begin, downs, statusOf } = machine({ manifests: { "agent.yaml": JSON.stringify(STATIC) } });
    node.runFor(20_000);
    begin();
    node.runFor(20_000);
    expect([downs.length, statusOf("agent-one")?.phase]).toEqual([1, "Failed"]);
    node.restartRuntime();
    node.restartKubelet();
    node.runFor(30_000);
    expect(statusOf("agent-one")?.phase).toBe("Running");
    expect(node.telemetry.value("kubelet_graceful_shutdown_end_time_seconds")).toBeGreaterThan(1_700_000_000);
  });
});
