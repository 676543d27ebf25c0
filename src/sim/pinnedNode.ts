/** A simulated node that gives containers CPUs and memory of their own: two NUMA nodes of four CPUs and 16 GiB. */
import { cpuPolicy } from "../core/cpu/cpuPolicy.ts";
import { cpuTopology } from "../core/cpu/cpuTopology.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { memoryPolicy } from "../core/numaMemory/memoryPolicy.ts";
import type { TopologyPolicy } from "../core/topology/assignHardware.ts";
import { nodeHardware } from "../core/topology/nodeHardware.ts";
import type { Machine } from "../ports/host.ts";
import { simMachine } from "./host/simMachine.ts";
import type { Prng } from "./prng.ts";
import { simKubeletConfig } from "./simKubeletConfig.ts";

const NODES = 2;
const CPUS_PER_NODE = 4;
const NODE_BYTES = 16 * 2 ** 30;
/** The hard eviction threshold for memory. */
const RESERVED_BYTES = 100 * 2 ** 20;

const places = Array.from({ length: NODES * CPUS_PER_NODE }, (_, cpu) => {
  const node = Math.floor(cpu / CPUS_PER_NODE);
  return { cpu, core: cpu, socket: node, node, cache: node };
});
const nodeIds = Array.from({ length: NODES }, (_, id) => id);
const numaMemory = nodeIds.map((id) => ({ id, bytes: NODE_BYTES, hugepages: new Map<string, number>() }));

const POLICIES: readonly TopologyPolicy["name"][] = ["none", "none", "best-effort", "restricted", "single-numa-node"];

/** Returns the machine, and the configuration of its kubelet with a drawn topology policy. CPU 0 is reserved. */
export function pinnedNode(prng: Prng): {
  readonly machine: Partial<Machine>;
  readonly config: Partial<KubeletConfig>;
} {
  const machine: Partial<Machine> = { cpuLayout: { places, nodeIds, distances: undefined }, numaMemory };
  const options = {
    fullCores: false,
    acrossNodes: false,
    bySocket: false,
    acrossCores: false,
    strictReservation: prng.chance(0.3),
    alignsByCache: false,
  };
  const cpus = cpuPolicy(cpuTopology(places), options, 1, [0]);
  const memory = memoryPolicy(numaMemory, new Map([[0, new Map([["memory", RESERVED_BYTES]])]]));
  const topology = {
    name: prng.pick(POLICIES),
    scope: prng.pick(["container", "pod"] as const),
    topology: { nodes: NODES, distances: undefined },
  };
  const { allocatable } = simKubeletConfig(simMachine(machine));
  return {
    machine,
    config: {
      allocatable: { ...allocatable, cpu: String(places.length - 1) },
      cpuManagerPolicy: "static",
      memoryManagerPolicy: "Static",
      hardware: nodeHardware({ cpus, memory }, nodeIds, topology, { liftsCpuQuota: false, reconcilePeriodMs: 10_000 }),
    },
  };
}
