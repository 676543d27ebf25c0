/**
 * Memory of pods protected by their requests and throttled before their limits, on cgroup v2 and under the gate
 * MemoryQoS. Counterparts: KEP-2570; kuberuntime_container_linux.go, helpers_linux.go, qos_container_manager_linux.go.
 *
 *     class       container and pod                container            /kubepods, /kubepods/burstable
 *     Guaranteed  memory.min = request             no memory.high       memory.min: all requests
 *     Burstable   memory.low = request             memory.high          memory.low: those of Burstable pods
 *     BestEffort                                   memory.high
 */
import type { Container, Pod } from "../api.ts";
import { type QosClass, podQosClass } from "../pod/qos.ts";
import { isVersionAtLeast } from "./kernelVersion.ts";
import { containerLimits, containerRequests, podRequests } from "./podResources.ts";
import { resourceValue } from "./resourceList.ts";

/** What of it is in use. */
export interface MemoryQos {
  /** Part of the way from request to limit at which a container is throttled; 0 to 1. */
  readonly throttlingFactor: number;
  /** Requests are protected: `memoryReservationPolicy: TieredReservation`. */
  readonly protectsRequests: boolean;
  /** Of one page of memory: the kernel takes whole ones. */
  readonly pageBytes: number;
  /** What all pods may use together: the limit of containers without one. Neither eviction nor huge pages count. */
  readonly nodeBytes: number;
}

/** Protection in a cgroup, cgroup v2. */
export interface MemoryProtection {
  /** Memory the kernel never reclaims. */
  readonly memoryMinBytes?: number;
  /** Memory the kernel reclaims last. */
  readonly memoryLowBytes?: number;
}

/** Older kernels may throttle what has reached memory.high for ever; fixed by their commit b3ff92916af3. */
const FIRST_SAFE_KERNEL = "5.9";

/** What is to be said of a kernel on which throttling is not safe; undefined of one on which it is. */
export const memoryQosWarning = (kernelVersion: string): string | undefined =>
  isVersionAtLeast(kernelVersion, FIRST_SAFE_KERNEL) === false
    ? `Kernel ${kernelVersion} is older than ${FIRST_SAFE_KERNEL}: containers that MemoryQoS throttles at memory.high may hang`
    : undefined;

const protection = (qos: QosClass, bytes: number): Required<MemoryProtection> => ({
  memoryMinBytes: qos === "Guaranteed" ? bytes : 0,
  memoryLowBytes: qos === "Burstable" ? bytes : 0,
});

/** Files of a container's cgroup and their content. A container without a limit is measured by what pods may use. */
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
  // With a request like the limit there is no room to be throttled in.
  const isThrottled = (request !== limit || request === 0) && high > request;
  return {
    "memory.min": String(memoryMinBytes),
    "memory.low": String(memoryLowBytes),
    ...(isThrottled ? { "memory.high": String(high) } : {}),
  };
}

const requestOf = (pod: Pod): number => Number(resourceValue(podRequests(pod), "memory"));

/** Protection of a pod's cgroup; nothing where requests are not protected. */
export const podMemoryProtection = (pod: Pod, qos: MemoryQos | undefined): MemoryProtection =>
  qos?.protectsRequests === true ? protection(podQosClass(pod), requestOf(pod)) : {};

/** What pods of each class have protected, in bytes. */
export interface ProtectedMemory {
  /** By memory.min. */
  readonly guaranteedBytes: number;
  /** By memory.low. */
  readonly burstableBytes: number;
}

/** Sums over the active pods; 0 where requests are not protected. */
export function protectedMemory(activePods: readonly Pod[], qos: MemoryQos | undefined): ProtectedMemory {
  const sum = (wanted: QosClass): number =>
    qos?.protectsRequests === true
      ? activePods.filter((pod) => podQosClass(pod) === wanted).reduce((total, pod) => total + requestOf(pod), 0)
      : 0;
  return { guaranteedBytes: sum("Guaranteed"), burstableBytes: sum("Burstable") };
}
