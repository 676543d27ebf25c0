/** The amounts of a node: its capacity, what pods may use of it, and the limits that hold pods to that. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { effectiveMaxPods } from "../core/admission/admit.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { internalCapacity, machineCapacity } from "../core/resources/machineCapacity.ts";
import { nodeAllocatable, resourcesForPods } from "../core/resources/nodeAllocatable.ts";
import { kubepodsCgroupResources } from "../core/resources/podCgroup.ts";
import { type ResourceAmounts, resourceValue } from "../core/resources/resourceList.ts";
import type { Machine } from "../ports/host.ts";

/** Pods are held to the capacity of the machine, whether or not reservations are enforced. */
const NO_RESERVATIONS = { kubeReserved: {}, systemReserved: {} };

/** Computes them. */
export function nodeAmountsOf(
  options: KubeletOptions,
  machine: Machine,
): Pick<KubeletConfig, "capacity" | "allocatable" | "kubepodsLimits" | "memoryQos"> {
  const { config } = options;
  const { kubeReserved, systemReserved, evictionHard } = config;
  const reserved = config.enforceNodeAllocatable.includes("pods") ? { kubeReserved, systemReserved } : NO_RESERVATIONS;
  const capacity = machineCapacity(
    config.localStorageCapacityIsolation ? machine : { ...machine, rootFsBytes: undefined },
    effectiveMaxPods(config.maxPods, config.podsPerCore, machine.cpuCount),
  );
  return {
    capacity,
    allocatable: nodeAllocatable({ capacity, kubeReserved, systemReserved, evictionHard }),
    kubepodsLimits: kubepodsCgroupResources(
      resourcesForPods({ capacity: internalCapacity(capacity, machine.maxPids), ...reserved }),
    ),
    memoryQos: memoryQosOf(options, machine, capacity),
  };
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
