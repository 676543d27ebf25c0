import { describe, expect, it } from "vitest";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import type { CpuState } from "../../../../src/core/hardwareState/cpuState.ts";
import { currentCpuState, currentMemoryState } from "../../../../src/core/hardwareState/currentStates.ts";
import { inheritedCpus, inheritedMemory, joinHardware } from "../../../../src/core/hardwareState/inheritedHardware.ts";
import type { MemoryState } from "../../../../src/core/hardwareState/memoryState.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { type NodeHardware, nodeHardware } from "../../../../src/core/topology/nodeHardware.ts";
import { machineOf } from "../../../support/cpuMachines.ts";

const NO_OPTIONS = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false, alignsByCache: false };
const TOPOLOGY = { name: "none", scope: "container", topology: { nodes: 2, distances: undefined } } as const;

/** Two NUMA nodes of four CPUs and 100 bytes; CPU 0 and 10 bytes of node 0 are reserved. */
function nodeWith({ strict = false, cores = 4 } = {}): NodeHardware {
  const machine = machineOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: cores, threads: 1 });
  const nodes = [0, 1].map((id) => ({ id, bytes: 100, hugepages: new Map([["hugepages-2Mi", 20]]) }));
  const cpus = cpuPolicy(machine, { ...NO_OPTIONS, strictReservation: strict }, 1, []);
  const memory = memoryPolicy(nodes, new Map([[0, new Map([["memory", 10]])]]));
  return nodeHardware({ cpus, memory }, machine.nodes, TOPOLOGY, { liftsCpuQuota: true, reconcilePeriodMs: 1 });
}

const uid = podUid("uid-1");
const block = (resource: string, bytes: number, heldBytes: number) => ({ nodes: [0, 1], resource, bytes, heldBytes });
const pod: PodHardware = new Map([
  ["init", { memory: [block("memory", 60, 20)] }],
  ["main", { cpus: [1, 2], memory: [block("memory", 90, 90), block("hugepages-2Mi", 30, 30)] }],
  ["shares", { mask: 1 }],
]);
const registry = {
  ...emptyRegistry,
  records: new Map([[uid, { ...freshRecord({ uid, name: "a", namespace: "demo" }), hardware: pod }]]),
};

describe("the current state", () => {
  it("has the CPUs of containers, and those that others share", () => {
    expect(currentCpuState(nodeWith(), registry)).toEqual({
      policy: "static",
      sharedCpus: "0,3-7",
      entries: new Map([[uid, new Map([["main", "1-2"]])]]),
      podEntries: new Map(),
    });
    expect(currentCpuState(nodeWith({ strict: true }), registry).sharedCpus).toBe("3-7");
  });

  it("has each NUMA node with what counts on it", () => {
    const { nodes, entries } = currentMemoryState(nodeWith(), registry);
    const pages = { total: 20, systemReserved: 0, allocatable: 20 };
    expect([...nodes]).toEqual([
      [
        "0",
        {
          assignments: 3,
          memory: new Map([
            ["memory", { total: 100, systemReserved: 10, allocatable: 70, reserved: 70, free: 0 }],
            ["hugepages-2Mi", { ...pages, reserved: 20, free: 0 }],
          ]),
          cells: [0, 1],
        },
      ],
      [
        "1",
        {
          assignments: 3,
          memory: new Map([
            ["memory", { total: 100, systemReserved: 0, allocatable: 80, reserved: 40, free: 40 }],
            ["hugepages-2Mi", { ...pages, reserved: 10, free: 10 }],
          ]),
          cells: [0, 1],
        },
      ],
    ]);
    expect(entries.get(uid)?.get("init")).toEqual([{ nodes: [0, 1], resource: "memory", bytes: 20 }]);
  });

  it("is that of the policies none on a node that gives containers nothing", () => {
    expect([currentCpuState(undefined, registry).policy, currentMemoryState(undefined, registry).policy]).toEqual([
      "none",
      "None",
    ]);
  });
});

describe("inherited hardware", () => {
  const hardware = nodeWith();
  const cpus = currentCpuState(hardware, registry);
  const memory = currentMemoryState(hardware, registry);

  it("is what the other kubelet gave to containers, without a word if nothing changed", () => {
    const [ofCpus, ofMemory] = [inheritedCpus(cpus, hardware), inheritedMemory(memory, hardware)];
    expect([ofCpus.changes, ofMemory.changes]).toEqual([[], []]);
    expect(joinHardware(ofCpus.pods, ofMemory.pods).get(uid)).toEqual(
      new Map([
        ["main", pod.get("main")],
        ["init", { memory: [block("memory", 20, 20)] }],
      ]),
    );
  });

  it.each<[string, Partial<CpuState>, NodeHardware | undefined, readonly string[]]>([
    ["CPUs that are gone", {}, nodeWith({ cores: 3 }), ["the machine has no CPUs 6-7 any more"]],
    ["CPUs that are new", {}, nodeWith({ cores: 5 }), ["CPUs 8-9 are new"]],
    ["reserved CPUs that were in no list", { sharedCpus: "3-7" }, hardware, []],
    [
      "the policy that had none",
      { policy: "none", sharedCpus: "" },
      hardware,
      ["the policy was none and is static now"],
    ],
    ["the policy that has none", {}, undefined, ["the policy was static and is none now"]],
  ])("tells %s", (_, more, node, changes) => {
    expect(inheritedCpus({ ...cpus, ...more }, node).changes).toEqual(changes);
  });

  it.each<[string, Partial<MemoryState>, NodeHardware | undefined, readonly string[]]>([
    [
      "nodes with other memory",
      { nodes: new Map([...memory.nodes].slice(0, 1)) },
      hardware,
      ["NUMA nodes 1 have other memory"],
    ],
    [
      "nodes that are gone",
      { nodes: new Map([...memory.nodes, ["7", { assignments: 0, memory: new Map(), cells: [7] }]]) },
      hardware,
      ["the machine has no NUMA nodes 7 any more"],
    ],
    ["the policy that has none", {}, undefined, ["the policy was Static and is None now"]],
  ])("tells %s", (_, more, node, changes) => {
    expect(inheritedMemory({ ...memory, ...more }, node).changes).toEqual(changes);
  });
});
