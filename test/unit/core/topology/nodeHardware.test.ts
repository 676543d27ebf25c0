import { describe, expect, it } from "vitest";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import {
  exclusiveCpusOf,
  hardwareByPod,
  nodeHardware,
  ownCpusText,
  podHasNoCpuQuota,
  sharedCpusText,
  wantedCpus,
} from "../../../../src/core/topology/nodeHardware.ts";
import { podOf } from "../../../support/pods.ts";
import { machineOf } from "../../../support/cpuMachines.ts";

const machine = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 8, threads: 1 });
const OPTIONS = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false };
const policy = cpuPolicy(machine, { ...OPTIONS, strictReservation: false, alignsByCache: false }, 1, []);
if (policy === undefined) throw new Error("too many CPUs are reserved");
const node = nodeHardware(
  { cpus: policy, memory: undefined },
  machine.nodes,
  { name: "none", scope: "container", topology: { nodes: 1, distances: undefined } },
  { liftsCpuQuota: true, reconcilePeriodMs: 10_000 },
);

/** Pods of this process and pods of before its start. */
function held(records: Readonly<Record<string, PodHardware | undefined>>, restored: Record<string, PodHardware> = {}) {
  const recordOf = (name: string, hardware: PodHardware | undefined) => {
    const uid = podUid(name);
    return [uid, { ...freshRecord({ uid, name, namespace: "demo" }), hardware }] as const;
  };
  return {
    ...emptyRegistry,
    isSettled: true,
    records: new Map(Object.entries(records).map(([name, hardware]) => recordOf(name, hardware))),
    restored: new Map(Object.entries(restored).map(([name, hardware]) => [podUid(name), { hardware }])) as never,
  };
}

const alone: PodHardware = new Map([
  ["main", { cpus: [1, 2] }],
  ["helper", {}],
]);

describe("hardware of the node's pods", () => {
  it("is that of known pods and of pods of before the restart", () => {
    const registry = held({ a: alone, b: undefined }, { c: new Map([["main", { cpus: [5] }]]) });
    expect([...hardwareByPod(registry).keys()].sort()).toEqual(["a", "c"]);
    expect(exclusiveCpusOf(registry)).toEqual([1, 2, 5]);
    expect(sharedCpusText(node, registry)).toBe("0,3-4,6-7");
  });

  it("is that of the record once a source has claimed a pod of before the restart", () => {
    const registry = held({ a: new Map([["main", { cpus: [4] }]]) }, { a: alone });
    expect(exclusiveCpusOf(registry)).toEqual([4]);
  });

  const two = podOf({ name: "p", spec: { containers: [{ name: "main" }, { name: "helper" }] } });
  it.each<[string, PodHardware | undefined, boolean]>([
    ["a pod without hardware", undefined, false],
    ["a pod whose containers share all CPUs", new Map([["main", {}]]), false],
    ["a pod of which one container has CPUs", alone, true],
  ])("tells whether %s has no CPU quota", (_, hardware, expected) => {
    expect(podHasNoCpuQuota(node, two, hardware)).toBe(expected);
    expect(podHasNoCpuQuota({ ...node, liftsCpuQuota: false }, two, hardware)).toBe(false);
  });

  it("has a text for the CPUs of a container, and none for shared ones", () => {
    expect(ownCpusText(alone, "main")).toBe("1-2");
    expect(ownCpusText(alone, "helper")).toBeUndefined();
    expect(ownCpusText(undefined, "main")).toBeUndefined();
  });
});

describe("wantedCpus", () => {
  it("are the reserved CPUs, never an empty set, while strict-cpu-reservation leaves none to share", () => {
    const strict = cpuPolicy(machine, { ...OPTIONS, strictReservation: true, alignsByCache: false }, 1, [0]);
    const running = new Map([[podUid("b"), { containers: [{ id: "1", name: "main", state: "running" }] }]]);
    const others: PodHardware = new Map([["main", { cpus: [1, 2, 3, 4, 5, 6, 7] }]]);
    expect(wantedCpus({ ...node, cpus: strict }, held({ a: others, b: undefined }), running as never)).toEqual(
      new Map([["1", "0"]]),
    );
  });

  it("are the own CPUs of a running container or the shared ones, and none of containers that do not run", () => {
    const container = (id: string, name: string, state: string) => ({ id, name, state });
    const running = new Map([
      [podUid("a"), { containers: [container("1", "main", "running"), container("2", "helper", "running")] }],
      [podUid("b"), { containers: [container("3", "main", "running"), container("4", "main", "exited")] }],
      [podUid("c"), { containers: [container("5", "main", "created"), container("6", "main", "unknown")] }],
    ]);
    expect(wantedCpus(node, held({ a: alone }), running as never)).toEqual(
      new Map([
        ["1", "1-2"],
        ["2", "0,3-7"],
        ["3", "0,3-7"],
      ]),
    );
  });
});
