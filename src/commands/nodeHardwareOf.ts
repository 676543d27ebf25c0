/** Sets up the managers of the node's hardware from configuration and machine. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { parsePolicyOptions } from "../core/config/policyOptions.ts";
import { type CpuPolicy, cpuPolicy } from "../core/cpu/cpuPolicy.ts";
import { NO_CPUS, parseCpuSet } from "../core/cpu/cpuSet.ts";
import { cpuTopology } from "../core/cpu/cpuTopology.ts";
import { kubeletError } from "../core/errors.ts";
import { type MemoryPolicy, memoryPolicy, type NumaNodeMemory } from "../core/numaMemory/memoryPolicy.ts";
import { reservedByNode } from "../core/numaMemory/reservedByNode.ts";
import { addResources, parseResourceList, resourceMilli } from "../core/resources/resourceList.ts";
import type { TopologyPolicy } from "../core/topology/assignHardware.ts";
import { nodeHardware, type NodeHardware, type NodeTopology } from "../core/topology/nodeHardware.ts";
import { MAX_NUMA_NODES } from "../core/topology/numaMask.ts";
import type { CpuLayout, Machine } from "../ports/host.ts";
import { nodeReservation } from "./nodeAmountsOf.ts";

const refuse = (reason: string): never => {
  throw kubeletError("InvalidArgument", reason);
};

/**
 * Returns the hardware that containers can have for themselves; undefined with cpuManagerPolicy none and
 * memoryManagerPolicy None. Throws a KubeletError if the policies do not suit the machine.
 */
export function nodeHardwareOf(options: KubeletOptions, machine: Machine): NodeHardware | undefined {
  const { config, featureGates } = options;
  if (config.cpuManagerPolicy !== "static" && config.memoryManagerPolicy !== "Static") return undefined;
  const nodes = machine.numaMemory ?? [oneNode(machine)];
  const { nodeIds, distances } = machine.cpuLayout ?? { nodeIds: nodes.map(({ id }) => id), distances: undefined };
  const hasPodLevel = featureGates.get("PodLevelResourceManagers") === true && featureGates.get("PodLevelResources");
  const podLevel = hasPodLevel === true ? { podLevel: true } : {};
  return nodeHardware(
    {
      cpus:
        config.cpuManagerPolicy === "static" ? { ...cpuPolicyOf(config, machine.cpuLayout), ...podLevel } : undefined,
      memory:
        config.memoryManagerPolicy === "Static"
          ? { ...memoryPolicyOf(options, machine, nodes, nodeIds), ...podLevel }
          : undefined,
    },
    nodeIds,
    topologyPolicyOf(config, { nodeIds, distances }),
    {
      liftsCpuQuota: featureGates.get("DisableCPUQuotaWithExclusiveCPUs") === true,
      reconcilePeriodMs: config.cpuManagerReconcilePeriod,
    },
  );
}

/** Returns where devices are placed. Throws a KubeletError if the policy of the topology manager does not suit the machine. */
export function nodeTopologyOf({ config }: KubeletOptions, { cpuLayout }: Machine): NodeTopology | undefined {
  const isPlacing = config.topologyManagerPolicy !== "none";
  if (cpuLayout === undefined) {
    return isPlacing ? refuse("topologyManagerPolicy: the kernel does not say where the CPUs are") : undefined;
  }
  // Without a policy nothing is placed, however many nodes there are.
  if (!isPlacing && cpuLayout.nodeIds.length > MAX_NUMA_NODES) return undefined;
  return { nodeIds: cpuLayout.nodeIds, policy: topologyPolicyOf(config, cpuLayout) };
}

/** A machine without NUMA nodes is one node. */
const oneNode = ({ memoryBytes, hugepages }: Machine): NumaNodeMemory => ({
  id: 0,
  bytes: Number(memoryBytes),
  hugepages: new Map(hugepages.map(({ resource, bytes, count }) => [resource, Number(bytes * count)])),
});

type Config = KubeletOptions["config"];

function cpuPolicyOf(config: Config, layout: CpuLayout | undefined): CpuPolicy {
  const { places } = layout ?? refuse("cpuManagerPolicy static: the kernel does not say where the CPUs are");
  const topology = cpuTopology(places);
  const { cpu: options } = parsePolicyOptions(config);
  const chosen = parseCpuSet(config.reservedSystemCPUs);
  const reserved = "cpus" in chosen ? chosen.cpus : NO_CPUS;
  const missing = reserved.filter((cpu) => !topology.places.has(cpu));
  if (missing.length > 0) refuse(`reservedSystemCPUs: this machine has no CPU ${missing.join(", ")}`);
  const amounts = addResources(parseResourceList(config.systemReserved), parseResourceList(config.kubeReserved));
  const count = reserved.length > 0 ? reserved.length : Math.ceil(Number(resourceMilli(amounts, "cpu")) / 1_000);
  if (count === 0) {
    refuse("cpuManagerPolicy: static needs a CPU in reservedSystemCPUs, systemReserved or kubeReserved");
  }
  if (options.bySocket && topology.sockets.length > topology.nodes.length) {
    refuse("cpuManagerPolicyOptions: align-by-socket needs a machine without NUMA nodes of several sockets");
  }
  return (
    cpuPolicy(topology, options, count, reserved) ??
    refuse(`cpuManagerPolicy: ${count} CPUs are reserved, but this machine has ${topology.cpus.length}`)
  );
}

function memoryPolicyOf(
  options: KubeletOptions,
  machine: Machine,
  nodes: readonly NumaNodeMemory[],
  nodeIds: readonly number[],
): MemoryPolicy {
  const reserved = reservedByNode(options.config.reservedMemory, nodeIds, nodeReservation(options, machine));
  if ("fault" in reserved) return refuse(`reservedMemory: ${reserved.fault}`);
  const none = { bytes: 0, hugepages: new Map() };
  const all = nodeIds.map((id) => nodes.find((node) => node.id === id) ?? { id, ...none });
  return memoryPolicy(all, reserved.byNode);
}

function topologyPolicyOf(config: Config, { nodeIds, distances }: Omit<CpuLayout, "places">): TopologyPolicy {
  const { topology: options } = parsePolicyOptions(config);
  const name = config.topologyManagerPolicy as TopologyPolicy["name"];
  const most = name === "none" ? MAX_NUMA_NODES : Math.min(options.maxNodes, MAX_NUMA_NODES);
  if (nodeIds.length > most) {
    refuse(`topologyManagerPolicy: this machine has ${nodeIds.length} NUMA nodes, and at most ${most} are allowed`);
  }
  if (options.prefersClosest && distances === undefined) {
    refuse("topologyManagerPolicyOptions: prefer-closest-numa-nodes needs the distances of the NUMA nodes");
  }
  return {
    name,
    scope: config.topologyManagerScope === "pod" ? "pod" : "container",
    topology: { nodes: nodeIds.length, ids: nodeIds, distances: options.prefersClosest ? distances : undefined },
  };
}
