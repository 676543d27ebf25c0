/**
 * Keeps a share of the memory requests of a QoS class away from the lower classes, with the gate QOSReserved.
 * Upstream: setMemoryReserve of qos_container_manager_linux.go.
 *
 *     /kubepods/burstable    node - share of the requests of Guaranteed pods
 *     /kubepods/besteffort   node - share of the requests of Guaranteed and of Burstable pods
 */
import type { Pod } from "../api.ts";
import { type QosClass, podQosClass } from "../pod/qos.ts";
import { podRequests } from "./podResources.ts";
import { resourceValue } from "./resourceList.ts";

/** Settings of `qosReserved`. */
export interface QosReserved {
  /** Share of the memory requests that is reserved, 0 to 100. */
  readonly memoryPercent: number;
  /** Memory for all pods together: capacity less reservations and huge pages, without eviction thresholds. */
  readonly nodeBytes: number;
}

/** Returns the percentage of a valid `qosReserved`; undefined when no memory is reserved. */
export function reservedMemoryPercent(qosReserved: Readonly<Record<string, string>>): number | undefined {
  const text = qosReserved["memory"];
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/** Returns the memory limits of the cgroups of the two lower classes in bytes, never below 0. */
export function qosMemoryLimits(
  activePods: readonly Pod[],
  { memoryPercent, nodeBytes }: QosReserved,
): { readonly burstableBytes: number; readonly bestEffortBytes: number } {
  const reservedBytes = (qos: QosClass): number => {
    const requested = activePods
      .filter((pod) => podQosClass(pod) === qos)
      .reduce((sum, pod) => sum + resourceValue(podRequests(pod), "memory"), 0n);
    return Number((requested * BigInt(memoryPercent)) / 100n);
  };
  const burstableBytes = nodeBytes - reservedBytes("Guaranteed");
  const bestEffortBytes = burstableBytes - reservedBytes("Burstable");
  return { burstableBytes: Math.max(0, burstableBytes), bestEffortBytes: Math.max(0, bestEffortBytes) };
}
