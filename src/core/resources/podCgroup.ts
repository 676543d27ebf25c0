/**
 * Names and limits of pod cgroups: `/kubepods`, one child per QoS class, one per pod. Names are in the kubelet's own
 * form, whatever the driver and the cgroup version. Upstream: pod_container_manager_linux.go,
 * qos_container_manager_linux.go.
 */
import type { Pod } from "../api.ts";
import { podContainers } from "../pod/containers.ts";
import { type QosClass, podQosClass } from "../pod/qos.ts";
import { isPathSegment } from "../pathSegment.ts";
import { trimmedEnd } from "../trimmedEnd.ts";
import { type CgroupDriver, driverCgroupPath } from "./cgroupDriver.ts";
import { hugePageLimits } from "./hugePageLimits.ts";
import { type MemoryProtection, type MemoryQos, podMemoryProtection, type ProtectedMemory } from "./memoryQos.ts";
import { MIN_CPU_SHARES, milliCpuToQuotaUs, milliCpuToShares } from "./cgroupMath.ts";
import { containerLimits, podLevelLimits, podLimits, podRequests } from "./podResources.ts";
import { type ResourceList, resourceMilli, resourceValue } from "./resourceList.ts";

/** Settings of pod cgroups. */
export interface PodCgroupConfig {
  /** Parent of `/kubepods`; empty or `/` for the root. */
  readonly cgroupRoot: string;
  /** False: there are no cgroups per QoS class and pod, the runtime chooses. */
  readonly cgroupsPerQos: boolean;
  readonly cgroupDriver: CgroupDriver;
  readonly cpuCfsQuota: boolean;
  /** Microseconds. */
  readonly cpuCfsPeriodUs: number;
  /** Maximum number of processes per pod; 0 or less means no limit. */
  readonly podPidsLimit: number;
  /** undefined: not in use. */
  readonly memoryQos: MemoryQos | undefined;
}

/** Settings that the limits of pods depend on. */
export type PodLimitConfig = Pick<PodCgroupConfig, "cpuCfsQuota" | "cpuCfsPeriodUs" | "podPidsLimit" | "memoryQos">;

/** Limits in cgroup v1 units, as the cgroup port takes them. */
export interface CgroupLimits extends MemoryProtection {
  readonly cpuShares?: number;
  readonly cpuQuotaUs?: number;
  readonly cpuPeriodUs?: number;
  readonly memoryLimitBytes?: number;
  readonly pidsLimit?: number;
  /** Huge page limits in bytes by page size (`2MB`). A size that is not listed gets a limit of 0. */
  readonly hugePages?: Readonly<Record<string, number>>;
}

type CgroupParent = Pick<PodCgroupConfig, "cgroupRoot">;

/** Formats a cgroup name like upstream's messages: as the list of its elements. */
export const printedCgroupName = (name: string): string =>
  `[${name
    .split("/")
    .filter((step) => step !== "")
    .map((step) => JSON.stringify(step))
    .join(" ")}]`;

/** Returns the name of `/kubepods` under the cgroup root. */
export const kubepodsCgroupName = ({ cgroupRoot }: CgroupParent): string => `${trimmedEnd(cgroupRoot, "/")}/kubepods`;

/** Returns the cgroup of all pods of a QoS class; Guaranteed pods are directly under `/kubepods`. */
export function qosCgroupName(parent: CgroupParent, qos: QosClass): string {
  const kubepods = kubepodsCgroupName(parent);
  switch (qos) {
    case "Guaranteed":
      return kubepods;
    case "Burstable":
      return `${kubepods}/burstable`;
    case "BestEffort":
      return `${kubepods}/besteffort`;
  }
}

/** Returns a pod's cgroup; empty when there are no cgroups per pod. */
export function podCgroupName(pod: Pod, config: Pick<PodCgroupConfig, "cgroupRoot" | "cgroupsPerQos">): string {
  return config.cgroupsPerQos ? `${qosCgroupName(config, podQosClass(pod))}/pod${pod.metadata.uid}` : "";
}

/** Returns the cgroup parent of a pod's sandbox in the driver's form; empty when there are no cgroups per pod. */
export const podCgroupParent = (
  pod: Pod,
  config: Pick<PodCgroupConfig, "cgroupRoot" | "cgroupsPerQos" | "cgroupDriver">,
): string => (config.cgroupsPerQos ? driverCgroupPath(config.cgroupDriver, podCgroupName(pod, config)) : "");

/** Returns the pod UID of a QoS cgroup's child; undefined when it is not a pod's cgroup. */
export function parsePodCgroupName(lastElement: string): string | undefined {
  const uid = lastElement.startsWith("pod") ? lastElement.slice("pod".length) : "";
  return isPathSegment(uid) ? uid : undefined;
}

/** Returns whether the pod has a limit: every container has one, or the pod itself does. */
function isLimited(pod: Pod, name: "cpu" | "memory"): boolean {
  if ((podLevelLimits(pod).get(name)?.nano ?? 0n) !== 0n) return true;
  return podContainers(pod.spec).every((container) => (containerLimits(container).get(name)?.nano ?? 0n) !== 0n);
}

/** Returns the limits of a pod's cgroup. */
export function podCgroupResources(pod: Pod, config: PodLimitConfig): CgroupLimits {
  const pids = config.podPidsLimit > 0 ? { pidsLimit: config.podPidsLimit } : {};
  const qos = podQosClass(pod);
  const requests = podRequests(pod);
  const hugePages = hugePageLimits(requests);
  if (qos === "BestEffort") return { cpuShares: Number(MIN_CPU_SHARES), ...pids, hugePages };
  const limits = podLimits(pod);
  const quotaUs = config.cpuCfsQuota
    ? Number(milliCpuToQuotaUs(resourceMilli(limits, "cpu"), BigInt(config.cpuCfsPeriodUs)))
    : -1;
  const cpu = isLimited(pod, "cpu") ? { cpuQuotaUs: quotaUs, cpuPeriodUs: config.cpuCfsPeriodUs } : {};
  const memory = isLimited(pod, "memory") ? { memoryLimitBytes: Number(resourceValue(limits, "memory")) } : {};
  const protectedMemory = podMemoryProtection(pod, config.memoryQos);
  const cpuShares = Number(milliCpuToShares(resourceMilli(requests, "cpu")));
  return { cpuShares, ...cpu, ...memory, ...protectedMemory, ...pids, hugePages };
}

/** Returns the limits of the Burstable or BestEffort cgroup, given the active pods: only the CPU shares. */
export function qosCgroupResources(qos: "Burstable" | "BestEffort", activePods: readonly Pod[]): CgroupLimits {
  if (qos === "BestEffort") return { cpuShares: Number(MIN_CPU_SHARES) };
  const cpuMilli = activePods
    .filter((pod) => podQosClass(pod) === "Burstable")
    .reduce((sum, pod) => sum + resourceMilli(podRequests(pod), "cpu"), 0n);
  return { cpuShares: Number(milliCpuToShares(cpuMilli)) };
}

/** Returns the memory protection of the cgroups above pods: on v2 a parent needs at least the sum of its children. */
export const protectedCgroups = (
  parent: CgroupParent,
  { guaranteedBytes, burstableBytes }: ProtectedMemory,
): ReadonlyMap<string, CgroupLimits> =>
  new Map([
    [kubepodsCgroupName(parent), { memoryMinBytes: guaranteedBytes + burstableBytes }],
    [qosCgroupName(parent, "Burstable"), { memoryLowBytes: burstableBytes }],
  ]);

/** Returns the limits of `/kubepods`: capacity less the reservations, without the eviction thresholds. */
export function kubepodsCgroupResources(forPods: ResourceList): CgroupLimits {
  const memoryBytes = Number(resourceValue(forPods, "memory"));
  const cpuShares = Number(milliCpuToShares(resourceMilli(forPods, "cpu")));
  const pids = forPods.has("pid") ? { pidsLimit: Number(resourceValue(forPods, "pid")) } : {};
  if (memoryBytes <= 0) return { cpuShares, ...pids };
  return { cpuShares, memoryLimitBytes: memoryBytes, ...pids, hugePages: hugePageLimits(forPods) };
}
