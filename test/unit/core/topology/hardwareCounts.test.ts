import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { cpuManager } from "../../../../src/core/cpu/cpuManager.ts";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { memoryManager } from "../../../../src/core/numaMemory/memoryManager.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { hardwareOf, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { type HardwareCount, hardwareCounts, startingCounts } from "../../../../src/core/topology/hardwareCounts.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { keptByRunning } from "../../../support/runningHardware.ts";

/** Two NUMA nodes of two caches with two cores of one thread each, and 1000 bytes; CPU 0 is reserved. */
const machine = machineOf({ sockets: 2, nodesPerSocket: 1, cachesPerNode: 2, coresPerCache: 2, threads: 1 });
const topology = { nodes: 2, distances: undefined };
const memoryRules = memoryPolicy(
  [0, 1].map((id) => ({ id, bytes: 1_000, hugepages: new Map<string, number>() })),
  new Map(),
);

const NO_OPTIONS = {
  acrossNodes: false,
  bySocket: false,
  acrossCores: false,
  strictReservation: false,
  alignsByCache: false,
};

interface Given {
  readonly fullCores?: boolean;
  readonly podLevel?: boolean;
  readonly policy?: Partial<TopologyPolicy>;
  readonly kept?: PodHardware;
}

/** Decides about a pod; returns the hardware, and the counters as `short name{labels} amount`. */
function decided(pod: Pod, { fullCores = false, podLevel = false, policy = {}, kept }: Given = {}) {
  const rules = cpuPolicy(machine, { ...NO_OPTIONS, fullCores }, 1, [0]);
  if (rules === undefined) throw new Error("too many CPUs are reserved");
  const gate = podLevel ? { podLevel } : {};
  const [cpus, memory] = [
    { ...rules, ...gate },
    { ...memoryRules, ...gate },
  ];
  const policies = { topology: { name: "none", scope: "container", topology, ...policy } as const, cpus, memory };
  const managers = [cpuManager(cpus, machine.nodes), memoryManager(memory)];
  const outcome = hardwareOf(policies.topology, managers)(pod, [], keptByRunning(kept));
  const counts = hardwareCounts(pod, outcome, kept, policies).map(
    ({ metric, labels, by }) =>
      `${metric.replace(/^kubelet_(container_aligned_compute_resources|resource_manager)_/, "")}` +
      `{${Object.values(labels).join()}} ${by}`,
  );
  return { counts, hardware: "hardware" in outcome ? outcome.hardware : undefined };
}

const sized = (name: string, cpu: string, memory = "100"): Container =>
  containerOf({ name, resources: { requests: { cpu, memory }, limits: { cpu, memory } } });
const pod = (...containers: readonly Container[]): Pod => podOf({ spec: { containers: [...containers] } });
const whole = (cpu: string, ...containers: readonly Container[]): Pod =>
  podOf({
    spec: {
      containers: [...containers],
      resources: { requests: { cpu, memory: "600" }, limits: { cpu, memory: "600" } },
    },
  });

describe("hardwareCounts", () => {
  it.each<[string, Pod, Given, readonly string[]]>([
    ["no certain alignment without options", pod(sized("main", "1500m")), {}, []],
    ["CPUs of one cache", pod(sized("main", "1"), sized("helper", "1")), {}, ["count{uncore_cache,container} 2"]],
    ["no CPUs of several caches", pod(sized("main", "4")), {}, []],
    [
      "whole cores of containers alone",
      pod(sized("main", "4"), sized("helper", "10m")),
      { fullCores: true },
      ["count{physical_cpu,container} 1"],
    ],
    [
      "cores that a container does not get",
      pod(sized("main", "9")),
      { fullCores: true },
      ["failure_count{physical_cpu,container} 1"],
    ],
    [
      "each container on one NUMA node",
      pod(sized("main", "4"), sized("helper", "10m")),
      { policy: { name: "single-numa-node" } },
      ["count{numa_node,container} 2"],
    ],
    [
      "a pod on one NUMA node",
      pod(sized("main", "3"), sized("helper", "10m")),
      { policy: { name: "single-numa-node", scope: "pod" } },
      ["count{numa_node,pod} 1"],
    ],
    [
      "a pod that fits no NUMA node",
      pod(sized("main", "5")),
      { policy: { name: "single-numa-node", scope: "pod" } },
      ["failure_count{numa_node,pod} 1"],
    ],
    [
      "no misplaced pod of a policy without a guarantee",
      pod(sized("main", "9")),
      { policy: { name: "restricted" } },
      [],
    ],
    [
      "allocations from the node with the gate",
      pod(sized("main", "4"), sized("helper", "10m")),
      { podLevel: true },
      [
        "allocations_total{cpu,node} 1",
        "container_assignments{cpu,node_exclusive} 1",
        "allocations_total{memory,node} 2",
        "container_assignments{memory,node_exclusive} 2",
      ],
    ],
    [
      "parts of a pod as a whole with the gate",
      whole("4", sized("main", "2"), containerOf({ name: "helper" })),
      { podLevel: true, policy: { name: "restricted", scope: "pod" } },
      [
        "allocations_total{cpu,pod} 2",
        "container_assignments{cpu,pod_exclusive} 1",
        "container_assignments{cpu,pod_shared} 1",
        "allocations_total{memory,pod} 2",
        "container_assignments{memory,pod_exclusive} 1",
        "container_assignments{memory,pod_shared} 1",
      ],
    ],
    ["failed CPUs with the gate", pod(sized("main", "9")), { podLevel: true }, ["allocation_errors_total{cpu,node} 1"]],
    [
      "failed memory with the gate",
      pod(sized("main", "1", "3000")),
      { podLevel: true },
      ["allocation_errors_total{memory,node} 1"],
    ],
    [
      "a pod that leaves nothing to share",
      whole("2", sized("main", "2"), containerOf({ name: "helper" })),
      { podLevel: true, policy: { name: "best-effort", scope: "pod" } },
      ["allocation_errors_total{cpu,pod} 1"],
    ],
  ])("has %s", (_, asked, given, expected) => {
    expect(decided(asked, given).counts).toEqual(expected);
  });

  it("starts with the counters of the policies in force", () => {
    const policies = { topology: { name: "none", scope: "container", topology }, cpus: undefined, memory: undefined };
    const names = (counts: readonly HardwareCount[]) => counts.map(({ labels }) => Object.values(labels).join());
    expect(startingCounts(policies as never)).toEqual([]);
    const rules = cpuPolicy(machine, { ...NO_OPTIONS, fullCores: false }, 1, [0]);
    const onOne = { ...policies, topology: { ...policies.topology, name: "single-numa-node" }, cpus: rules };
    expect(names(startingCounts(onOne as never))).toEqual([
      "uncore_cache,container",
      "physical_cpu,container",
      "physical_cpu,container",
      "numa_node,container",
      "numa_node,container",
      "numa_node,pod",
      "numa_node,pod",
    ]);
  });

  it("counts hardware that a pod keeps over a restart only once", () => {
    const given = { podLevel: true };
    const { hardware: kept } = decided(pod(sized("main", "2")), given);
    if (kept === undefined) throw new Error("the pod was refused");
    expect(decided(pod(sized("main", "2")), { ...given, kept }).counts).toEqual([]);
    const [once, asWhole] = [
      { podLevel: true, policy: { name: "restricted", scope: "pod" } } as const,
      whole("2", sized("main", "1")),
    ];
    const { hardware: before } = decided(asWhole, once);
    if (before === undefined) throw new Error("the pod was refused");
    expect(decided(asWhole, { ...once, kept: before }).counts).toEqual([]);
  });
});
