/** The option full-pcpus-only with offline threads, cores of different sizes and reserved threads: no core is shared. */
import { describe, expect, it } from "vitest";
import { cpuManager } from "../../../../src/core/cpu/cpuManager.ts";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { type CpuPlace, cpuTopology } from "../../../../src/core/cpu/cpuTopology.ts";
import { hardwareOf } from "../../../../src/core/topology/assignHardware.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { createPrng } from "../../../../src/sim/prng.ts";
import { placesOfMachine } from "../../../support/cpuMachines.ts";
import { podOf } from "../../../support/pods.ts";

const options = { acrossNodes: false, bySocket: false, acrossCores: false };
const settings = { ...options, fullCores: true, strictReservation: false, alignsByCache: false };
const pinned = (count: number) => {
  const amounts = { cpu: String(count), memory: "1Mi" };
  return podOf({ spec: { containers: [{ name: "main", resources: { requests: amounts, limits: amounts } }] } });
};

/** Gives a pod CPUs of a machine; returns them, or the refusal. */
function given(places: readonly CpuPlace[], count: number, others: readonly PodHardware[] = [], reserved = [0]) {
  const machine = cpuTopology(places);
  const policy = cpuPolicy(machine, settings, reserved.length, reserved);
  if (policy === undefined) throw new Error("too many CPUs are reserved");
  const topology = { nodes: machine.nodes.length, distances: undefined };
  const assign = hardwareOf({ name: "best-effort", scope: "container", topology }, [cpuManager(policy, machine.nodes)]);
  const assigned = assign(pinned(count), others, undefined);
  if ("refusal" in assigned) return `${assigned.refusal.reason}: ${assigned.refusal.message}`;
  return assigned.hardware.get("main")?.cpus ?? [];
}

/** Four cores of two threads: core 3 has the CPUs 3 and 7. */
const MACHINE = placesOfMachine({ sockets: 1, nodesPerSocket: 1, coresPerCache: 4, threads: 2 });
const OFFLINE = MACHINE.filter(({ cpu }) => cpu !== 7);

describe("full-pcpus-only", () => {
  it("counts the threads of the largest core, also if a thread is offline", () => {
    expect(given(OFFLINE, 1)).toBe(
      "SMTAlignmentError: SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2",
    );
    expect(given(OFFLINE, 4)).toEqual([1, 2, 5, 6]);
  });

  it("refuses more than the whole cores have", () => {
    const message = (free: number, count: number): string =>
      "SMTAlignmentError: SMT Alignment Error: not enough free physical CPUs: " +
      `available physical CPUs = ${free}, requested CPUs = ${count}, CPUs per core = 2`;
    expect(given(OFFLINE, 6)).toBe(message(4, 6));
    expect(given(OFFLINE, 4, [new Map([["main", { cpus: [1, 5] }]])])).toBe(message(2, 4));
  });

  it("shares no core on 300 machines with offline threads, reserved threads and pods", () => {
    const prng = createPrng(5);
    const draw = (below: number): number => Math.floor(prng.next() * below);
    let pods = 0;
    for (let round = 0; round < 300; round += 1) {
      const shape = { sockets: 1 + draw(2), nodesPerSocket: 1 + draw(2), coresPerCache: 2 + draw(4), threads: 2 };
      const places = placesOfMachine(shape).filter(({ cpu }) => cpu === 0 || draw(8) > 0);
      const reserved = [0, ...places.map(({ cpu }) => cpu).filter((cpu) => cpu > 0 && draw(10) === 0)];
      const others: PodHardware[] = [];
      const owners = new Map<number, number>();
      for (let pod = 0; pod < 6; pod += 1) {
        const cpus = given(places, 2 * (1 + draw(3)), others, reserved);
        if (typeof cpus === "string") continue;
        pods += 1;
        others.push(new Map([["main", { cpus }]]));
        for (const { cpu, core } of places) {
          if (!cpus.includes(cpu)) continue;
          expect(owners.get(core) ?? pod).toBe(pod);
          owners.set(core, pod);
          expect(places.filter((other) => other.core === core).every((other) => cpus.includes(other.cpu))).toBe(true);
        }
      }
    }
    expect(pods).toBeGreaterThan(300);
  });
});
