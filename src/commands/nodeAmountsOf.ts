/** Computes the capacity of a node, its allocatable resources, and the cgroup limits that enforce them. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { effectiveMaxPods } from "../core/admission/admit.ts";
import { parseCpuSet } from "../core/cpu/cpuSet.ts";
import { kubeletError } from "../core/errors.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { podSwapBytes } from "../core/resources/containerSwap.ts";
import { internalCapacity, machineCapacity } from "../core/resources/machineCapacity.ts";
import {
  keptFromPods,
  nodeAllocatable,
  reservationFault,
  resourcesForPods,
} from "../core/resources/nodeAllocatable.ts";
import { kubepodsCgroupResources } from "../core/resources/podCgroup.ts";
import { reservedMemoryPercent } from "../core/resources/qosReserved.ts";
import { reservedCgroups } from "../core/resources/reservedCgroups.ts";
import {
  parseResourceList,
  type ResourceAmounts,
  type ResourceList,
  resourceValue,
} from "../core/resources/resourceList.ts";
import type { Machine } from "../ports/host.ts";

/** Pods are held to the capacity of the machine, whether or not reservations are enforced. */
const NO_RESERVATIONS = { kubeReserved: {}, systemReserved: {} };

/** Computes the amounts. Throws a KubeletError if more is reserved than the machine has. */
export function nodeAmountsOf(
  options: KubeletOptions,
  machine: Machine,
): Pick<
  KubeletConfig,
  "capacity" | "allocatable" | "kubepodsLimits" | "reservedCgroups" | "memoryQos" | "qosReserved" | "podSwapBytes"
> {
  const { config, flags } = options;
  const { kubeReserved, systemReserved } = reservationsOf(config);
  const evictionHard = flags.experimentalAllocatableIgnoreEviction ? {} : config.evictionHard;
  const reserved = config.enforceNodeAllocatable.includes("pods") ? { kubeReserved, systemReserved } : NO_RESERVATIONS;
  const capacity = machineCapacity(
    config.localStorageCapacityIsolation ? machine : { ...machine, rootFsBytes: undefined },
    effectiveMaxPods(config.maxPods, config.podsPerCore, machine.cpuCount),
  );
  const fault = reservationFault({ capacity, kubeReserved, systemReserved, evictionHard });
  if (fault !== undefined) throw kubeletError("InvalidArgument", fault);
  const memoryQos = memoryQosOf(options, machine, capacity);
  return {
    capacity,
    allocatable: nodeAllocatable({ capacity, kubeReserved, systemReserved, evictionHard }),
    kubepodsLimits: kubepodsCgroupResources(
      resourcesForPods({ capacity: internalCapacity(capacity, machine.maxPids), ...reserved }),
    ),
    reservedCgroups: reservedCgroups(config, memoryQos !== undefined),
    memoryQos,
    qosReserved: qosReservedOf(options, capacity),
    podSwapBytes: podSwapBytes(config.memorySwap.swapBehavior, machine),
  };
}

/** Returns what the node keeps from its allocatable resources: both reservations and the hard eviction thresholds. */
export function nodeReservation({ config, flags }: KubeletOptions, machine: Machine): ResourceList {
  const evictionHard = flags.experimentalAllocatableIgnoreEviction ? {} : config.evictionHard;
  return keptFromPods({ capacity: machineCapacity(machine, config.maxPods), ...reservationsOf(config), evictionHard });
}

/** CPUs that the administrator names replace the amounts of cpu in both reservations, as upstream's. */
function reservationsOf({
  kubeReserved,
  systemReserved,
  reservedSystemCPUs,
}: Pick<KubeletOptions["config"], "kubeReserved" | "systemReserved" | "reservedSystemCPUs">): {
  readonly kubeReserved: ResourceAmounts;
  readonly systemReserved: ResourceAmounts;
} {
  const chosen = parseCpuSet(reservedSystemCPUs);
  if ("fault" in chosen || chosen.cpus.length === 0) return { kubeReserved, systemReserved };
  const { cpu: _, ...others } = kubeReserved;
  return { kubeReserved: others, systemReserved: { ...systemReserved, cpu: String(chosen.cpus.length) } };
}

function memoryQosOf(
  { config, featureGates }: KubeletOptions,
  { cgroupVersion, pageBytes }: Machine,
  capacity: ResourceAmounts,
): KubeletConfig["memoryQos"] {
  if (featureGates.get("MemoryQoS") !== true || cgroupVersion !== 2) return undefined;
  const { kubeReserved, systemReserved } = config;
  return {
    throttlingFactor: config.memoryThrottlingFactor,
    protectsRequests: config.memoryReservationPolicy === "TieredReservation",
    pageBytes,
    // Whether or not the reservations are enforced.
    nodeBytes: Number(resourceValue(resourcesForPods({ capacity, kubeReserved, systemReserved }), "memory")),
  };
}

function qosReservedOf(
  { config, featureGates }: KubeletOptions,
  capacity: ResourceAmounts,
): KubeletConfig["qosReserved"] {
  const memoryPercent = reservedMemoryPercent(config.qosReserved);
  if (featureGates.get("QOSReserved") !== true || memoryPercent === undefined) return undefined;
  const { kubeReserved, systemReserved } = config;
  // Whether or not the reservations are enforced.
  const forPods = parseResourceList(nodeAllocatable({ capacity, kubeReserved, systemReserved }));
  return { memoryPercent, nodeBytes: Number(resourceValue(forPods, "memory")) };
}
