/** The kubelet is killed at every moment of a pod with claims: no device is lost, leaked, or used before it is prepared. */
import { describe, expect, it } from "vitest";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createSimDraDrivers } from "../../src/sim/host/simDraDrivers.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const DRIVERS = ["a", "b"];
const ref = (name: string) => ({ namespace: "default", name });

/** A pod with a claim of two drivers, bound to a node whose kubelet has not read it yet. */
function node() {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2 });
  const drivers = createSimDraDrivers(clock);
  const faults: string[] = [];
  const isPrepared = () => drivers.prepared.length === DRIVERS.length;
  const made = podNode({
    scheduler,
    api: server,
    programs: () => runsForever,
    draDrivers: () => drivers,
    watch: (seen) => {
      if (seen.kind === "call" && seen.rpc === "StartContainer" && !isPrepared()) faults.push("started unprepared");
    },
  });
  for (const name of DRIVERS) drivers.register(name);
  const containers = [containerOf({ resources: { claims: [{ name: "gpu" }] } })];
  server.put("resourceclaims", { metadata: ref("gpu-1"), spec: {} });
  server.put("pods", newPod("web", { containers, resourceClaims: [{ name: "gpu", resourceClaimName: "gpu-1" }] }));
  const uid = server.object("pods", ref("web"))?.metadata?.uid ?? "";
  const results = DRIVERS.map((driver) => ({ driver, pool: "p", device: "d", request: "r" }));
  const status = { allocation: { devices: { results } }, reservedFor: [{ resource: "pods", name: "web", uid }] };
  const claim = server.object("resourceclaims", ref("gpu-1")) ?? { spec: {} };
  server
    .client()
    .update("resourceclaims", { ...claim, status }, { subresource: "status" })
    .subscribe({});
  made.node.runFor(5_000);
  server.schedule(ref("web"), made.node.config.nodeName);
  drivers.setFate(({ rpc }) => {
    if (rpc === "unprepare" && made.node.running().length > 0) faults.push("unprepared while it ran");
    return "answer";
  });
  const crashAfter = (ms: number): void => {
    made.node.runFor(ms);
    made.node.crashKubelet();
    made.node.runFor(2_000);
    made.node.restartKubelet();
  };
  const isGone = () => server.object("pods", ref("web")) === undefined;
  return { ...made, server, drivers, faults, crashAfter, isGone };
}

/** Every 5 ms of the first 55 ms: each request takes 2 ms, each call of a driver 5 ms. */
const MOMENTS = Array.from({ length: 12 }, (_, index) => index * 5);

describe("a kubelet killed", () => {
  it.each(MOMENTS)("%i ms after it got the pod starts it with its devices, and gives them back", (ms) => {
    const { node: sim, server, drivers, faults, crashAfter, isGone, check } = node();
    crashAfter(ms);
    sim.runFor(30_000);
    expect([sim.running().length, drivers.prepared]).toEqual([1, ["a gpu-1", "b gpu-1"]]);
    expect(sim.runtime.containers().at(-1)?.config.CDIDevices.length).toBe(2);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    sim.runFor(60_000);
    expect([isGone(), drivers.prepared, faults]).toEqual([true, [], []]);
    check();
  });

  it.each(MOMENTS)("%i ms after the pod was deleted gives its devices back", (ms) => {
    const { node: sim, server, drivers, faults, crashAfter, isGone, check } = node();
    sim.runFor(10_000);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    crashAfter(ms);
    sim.runFor(60_000);
    expect([isGone(), drivers.prepared, faults]).toEqual([true, [], []]);
    check();
  });

  it.each(MOMENTS)("%i ms after it got a pod that is gone by its next start gives the devices back", (ms) => {
    const { node: sim, server, drivers, faults, check } = node();
    sim.runFor(ms);
    sim.crashKubelet();
    server.delete("pods", ref("web"), { gracePeriodSeconds: 0 });
    sim.runFor(2_000);
    sim.restartKubelet();
    sim.runFor(90_000);
    expect([sim.running(), drivers.prepared, faults]).toEqual([[], [], []]);
    check();
  });
});
