/**
 * The cgroups of system and Kubernetes daemons that `enforceNodeAllocatable` limits to their reservations. Upstream:
 * enforceExistingCgroup and getCgroupConfigInternal of node_container_manager_linux.go.
 */
import type { KubeletConfiguration } from "../config/kubeletConfiguration.ts";
import { type CgroupDriver, sliceCgroupName } from "./cgroupDriver.ts";
import { milliCpuToShares } from "./cgroupMath.ts";
import { hugePageLimits } from "./hugePageLimits.ts";
import type { CgroupLimits } from "./podCgroup.ts";
import { parseResourceList, type ResourceAmounts, resourceMilli, resourceValue } from "./resourceList.ts";

/** A cgroup with its reservation. */
export interface ReservedCgroup {
  /** Name of the reservation in upstream's messages. */
  readonly reservation: "system reserved" | "kube reserved";
  /** Only CPU shares are enforced, no limit that kills processes. */
  readonly isCompressible: boolean;
  /** The configured value: a path on the cgroup file system, or one that ends in a slice. */
  readonly cgroup: string;
  /** undefined: there is no reservation, so nothing is enforced. */
  readonly limits: CgroupLimits | undefined;
}

type Fields = Pick<
  KubeletConfiguration,
  "enforceNodeAllocatable" | "systemReserved" | "systemReservedCgroup" | "kubeReserved" | "kubeReservedCgroup"
>;

/** Returns the configured cgroups in upstream's order. `protectsMemory`: the gate MemoryQoS, on cgroup v2. */
export function reservedCgroups(config: Fields, protectsMemory: boolean): readonly ReservedCgroup[] {
  const system = ["system reserved", config.systemReservedCgroup, config.systemReserved] as const;
  const kube = ["kube reserved", config.kubeReservedCgroup, config.kubeReserved] as const;
  const wanted = [
    ["system-reserved", false, system],
    ["kube-reserved", false, kube],
    ["system-reserved-compressible", true, system],
    ["kube-reserved-compressible", true, kube],
  ] as const;
  return wanted
    .filter(([key]) => config.enforceNodeAllocatable.includes(key))
    .map(([, isCompressible, [reservation, cgroup, reserved]]) => ({
      reservation,
      isCompressible,
      cgroup,
      limits: isCompressible ? cpuLimits(reserved) : allLimits(reserved, protectsMemory),
    }));
}

/** Returns the limits for compressible resources. Differs from upstream: huge pages stay allowed. */
function cpuLimits(reserved: ResourceAmounts): CgroupLimits | undefined {
  if (Object.keys(reserved).length === 0) return undefined;
  const list = parseResourceList(reserved);
  return list.has("cpu") ? { cpuShares: Number(milliCpuToShares(resourceMilli(list, "cpu"))) } : {};
}

function allLimits(reserved: ResourceAmounts, protectsMemory: boolean): CgroupLimits | undefined {
  const cpu = cpuLimits(reserved);
  if (cpu === undefined) return undefined;
  const list = parseResourceList(reserved);
  const bytes = Number(resourceValue(list, "memory"));
  return {
    ...cpu,
    ...(list.has("memory") && { memoryLimitBytes: bytes, ...(protectsMemory && { memoryMinBytes: bytes }) }),
    ...(list.has("pid") && { pidsLimit: Number(resourceValue(list, "pid")) }),
    hugePages: hugePageLimits(list),
  };
}

/** Returns the cgroup's name in the kubelet's form; with systemd a configured path is identified by its last slice. */
export const reservedCgroupName = (driver: CgroupDriver, { cgroup }: Pick<ReservedCgroup, "cgroup">): string =>
  driver === "systemd" ? sliceCgroupName(cgroup) : `/${cgroup.replace(/^\/+/, "")}`;
