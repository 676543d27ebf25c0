/** Sets up the managers of the node's hardware from configuration and machine. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { parsePolicyOptions } from "../core/config/policyOptions.ts";
import { type CpuPolicy, cpuPolicy } from "../core/cpu/cpuPolicy.ts";
import { NO_CPUS, parseCpuSet } from "../core/cpu/cpuSet.ts";
import { cpuTopology } from "../core/cpu/cpuTopology.ts";
import { kubeletError } from "../core/errors.ts";
import { addResources, parseResourceList, resourceMilli } from "../core/resources/resourceList.ts";
import type { TopologyPolicy } from "../core/topology/assignHardware.ts";
import { nodeHardware, type NodeHardware, type NodeTopology } from "../core/topology/nodeHardware.ts";
import { MAX_NUMA_NODES } from "../core/topology/numaMask.ts";
import type { CpuLayout, Machine } from "../ports/host.ts";

const refuse = (reason: string): never => {
  throw kubeletError("InvalidArgument", reason);
};

/**
 * Returns the hardware that containers can have for themselves; undefined with cpuManagerPolicy none. Throws a KubeletError
 * if the policies do not suit the machine.
 */
export function nodeHardwareOf(
  { config, featureGates }: KubeletOptions,
  { cpuLayout }: Machine,
): NodeHardware | undefined {
  if (config.cpuManagerPolicy !== "static") return undefined;
  const layout = cpuLayout ?? refuse("cpuManagerPolicy static: the kernel does not say where the CPUs are");
  const topology = topologyPolicyOf(config, layout);
  const { nodeIds } = layout;
  return nodeHardware(cpuPolicyOf(config, layout), nodeIds, topology, {
    liftsCpuQuota: featureGates.get("DisableCPUQuotaWithExclusiveCPUs") === true,
    reconcilePeriodMs: config.cpuManagerReconcilePeriod,
  });
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

type Config = KubeletOptions["config"];

function cpuPolicyOf(config: Config, { places }: CpuLayout): CpuPolicy {
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

function topologyPolicyOf(config: Config, { nodeIds, distances }: CpuLayout): TopologyPolicy {
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
    topology: { nodes: nodeIds.length, distances: options.prefersClosest ? distances : undefined },
  };
}
