/** Facts of the node that CRI configs depend on, besides the pod. */
import type { KubeletConfig } from "../kubeletConfig.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";

export interface NodeContext
  extends Pick<
    KubeletConfig,
    | "directories"
    | "nodeIps"
    | "clusterDns"
    | "clusterDomain"
    | "cgroupRoot"
    | "cgroupsPerQos"
    | "cgroupDriver"
    | "cpuCfsQuota"
    | "cpuCfsPeriodUs"
    | "singleProcessOomKill"
    | "memoryQos"
    | "podSwapBytes"
    | "seccompDefault"
  > {
  /** Whether the node has no API server. */
  readonly isStandalone: boolean;
  /** Why `nodeIps` is empty, in upstream's text. */
  readonly hostIpUnknown: string;
  readonly cgroupVersion: 1 | 2;
  /** CPUs of containers that have none for themselves, such as `0-3,8`; empty: all. */
  readonly sharedCpus: string;
  /** Whether cgroups can limit swap. */
  readonly swapControllerAvailable: boolean;
  /** The node's memory in bytes. */
  readonly memoryBytes: bigint;
  /** Huge page sizes in cgroup notation, smallest first: `2MB`, `1GB`. */
  readonly hugepageSizes: readonly string[];
  /** Allocatable of the node; the default for missing limits in the downward API. */
  readonly allocatable: ResourceAmounts;
  readonly selinuxEnabled: boolean;
  /** Thermal throttle directories of the CPUs, which are masked in containers. */
  readonly thermalThrottlePaths: readonly string[];
}
