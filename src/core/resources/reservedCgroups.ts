/**
 * The cgroups outside of pods that `enforceNodeAllocatable` limits: those of the system and of Kubernetes itself, with
 * what is reserved for them. Counterparts: enforceExistingCgroup, getCgroupConfigInternal of node_container_manager_linux.go.
 */
import type { KubeletConfiguration } from "../config/kubeletConfiguration.ts";
import { type CgroupDriver, sliceCgroupName } from "./cgroupDriver.ts";
import { milliCpuToShares } from "./cgroupMath.ts";
import { hugePageLimits } from "./hugePageLimits.ts";
import type { CgroupLimits } from "./podCgroup.ts";
import { parseResourceList, type ResourceAmounts, resourceMilli, resourceValue } from "./resourceList.ts";

/** One of them. */
export interface ReservedCgroup {
  /** As upstream's messages name the reservation. */
  readonly reservation: "system reserved" | "kube reserved";
  /** Only its share of CPU time is enforced, no limit that kills. */
  readonly isCompressible: boolean;
  /** As configured: a path on the cgroup file system, or one that ends in a slice. */
  readonly cgroup: string;
  /** Undefined: nothing is reserved, so there is nothing to enforce. */
  readonly limits: CgroupLimits | undefined;
}

type Fields = Pick<
  KubeletConfiguration,
  "enforceNodeAllocatable" | "systemReserved" | "systemReservedCgroup" | "kubeReserved" | "kubeReservedCgroup"
>;

/** Those the configuration names, in upstream's order. `protectsMemory`: the gate MemoryQoS, on cgroup v2. */
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

/** Differs from upstream: huge pages stay allowed where compressible resources alone are enforced. */
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

/** The cgroup as the kubelet names it: with systemd a configured path counts by the slice it ends in. */
export const reservedCgroupName = (driver: CgroupDriver, { cgroup }: Pick<ReservedCgroup, "cgroup">): string =>
  driver === "systemd" ? sliceCgroupName(cgroup) : `/${cgroup.replace(/^\/+/, "")}`;
