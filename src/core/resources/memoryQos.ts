/**
 * Protects the memory of pods up to their requests and throttles it below their limits, on cgroup v2 with the gate
 * MemoryQoS. Upstream: KEP-2570; kuberuntime_container_linux.go, helpers_linux.go, qos_container_manager_linux.go.
 *
 *     class       container and pod                container            /kubepods, /kubepods/burstable
 *     Guaranteed  memory.min = request             no memory.high       memory.min: all requests
 *     Burstable   memory.low = request             memory.high          memory.low: requests of Burstable pods
 *     BestEffort                                   memory.high
 */
import type { Container, Pod } from "../api.ts";
import { type QosClass, podQosClass } from "../pod/qos.ts";
import { isVersionAtLeast } from "./kernelVersion.ts";
import { containerLimits, containerRequests, podRequests } from "./podResources.ts";
import { resourceValue } from "./resourceList.ts";

/** Settings of memory QoS. */
export interface MemoryQos {
  /** Fraction of the distance from request to limit at which a container is throttled; 0 to 1. */
  readonly throttlingFactor: number;
  /** Requests are protected: `memoryReservationPolicy: TieredReservation`. */
  readonly protectsRequests: boolean;
  /** Size of a memory page; the kernel accepts multiples of it. */
  readonly pageBytes: number;
  /**
   * Memory for all pods together, in place of the limit of containers without one. Ignores eviction thresholds and huge
   * pages.
   */
  readonly nodeBytes: number;
}

/** Memory protection of a cgroup v2. */
export interface MemoryProtection {
  /** Memory the kernel never reclaims. */
  readonly memoryMinBytes?: number;
  /** Memory the kernel reclaims last. */
  readonly memoryLowBytes?: number;
}

/** Older kernels may throttle a cgroup at memory.high forever; fixed by kernel commit b3ff92916af3. */
const FIRST_SAFE_KERNEL = "5.9";

/** Returns the warning for a kernel on which throttling is not safe; undefined otherwise. */
export const memoryQosWarning = (kernelVersion: string): string | undefined =>
  isVersionAtLeast(kernelVersion, FIRST_SAFE_KERNEL) === false
    ? `Kernel ${kernelVersion} is older than ${FIRST_SAFE_KERNEL}: containers that MemoryQoS throttles at memory.high may hang`
    : undefined;

const protection = (qos: QosClass, bytes: number): Required<MemoryProtection> => ({
  memoryMinBytes: qos === "Guaranteed" ? bytes : 0,
  memoryLowBytes: qos === "Burstable" ? bytes : 0,
});

/** Returns the cgroup files of a container with their content. `nodeBytes` replaces a missing limit. */
export function containerMemoryQos(
  pod: Pod,
  container: Container,
  { throttlingFactor, protectsRequests, pageBytes, nodeBytes }: MemoryQos,
): Readonly<Record<string, string>> {
  const request = Number(resourceValue(containerRequests(container), "memory"));
  const limit = Number(resourceValue(containerLimits(container), "memory"));
  const { memoryMinBytes, memoryLowBytes } = protection(podQosClass(pod), protectsRequests ? request : 0);
  const ceiling = limit === 0 ? nodeBytes : limit;
  const high = Math.floor((request + (ceiling - request) * throttlingFactor) / pageBytes) * pageBytes;
  // When request and limit are equal, there is nothing to throttle.
  const isThrottled = (request !== limit || request === 0) && high > request;
  return {
    "memory.min": String(memoryMinBytes),
    "memory.low": String(memoryLowBytes),
    ...(isThrottled ? { "memory.high": String(high) } : {}),
  };
}

const requestOf = (pod: Pod): number => Number(resourceValue(podRequests(pod), "memory"));

/** Returns the protection of a pod's cgroup; empty when requests are not protected. */
export const podMemoryProtection = (pod: Pod, qos: MemoryQos | undefined): MemoryProtection =>
  qos?.protectsRequests === true ? protection(podQosClass(pod), requestOf(pod)) : {};

/** Protected memory of the pods of each QoS class, in bytes. */
export interface ProtectedMemory {
  /** Protected by memory.min. */
  readonly guaranteedBytes: number;
  /** Protected by memory.low. */
  readonly burstableBytes: number;
}

/** Returns the sums over the active pods; 0 when requests are not protected. */
export function protectedMemory(activePods: readonly Pod[], qos: MemoryQos | undefined): ProtectedMemory {
  const sum = (wanted: QosClass): number =>
    qos?.protectsRequests === true
      ? activePods.filter((pod) => podQosClass(pod) === wanted).reduce((total, pod) => total + requestOf(pod), 0)
      : 0;
  return { guaranteedBytes: sum("Guaranteed"), burstableBytes: sum("Burstable") };
}
