/** What CRI configs need to know of the node: everything in them that is not on the pod. */
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
    | "memoryQos"
    | "seccompDefault"
  > {
  /** Whether the node has no API server. */
  readonly isStandalone: boolean;
  /** Why `nodeIps` is empty, in upstream's words. */
  readonly hostIpUnknown: string;
  readonly cgroupVersion: 1 | 2;
  /** Whether swap of cgroups can be limited. */
  readonly swapControllerAvailable: boolean;
  /** False: the kernel kills a whole container that runs out of memory (cgroup v2 only). */
  readonly singleProcessOomKill: boolean;
  /** The node's memory in bytes. */
  readonly memoryBytes: bigint;
  /** Huge page sizes as cgroups name them, smallest first: `2MB`, `1GB`. */
  readonly hugepageSizes: readonly string[];
  /** Amounts pods may use; what a container without a limit reads as its limit. */
  readonly allocatable: ResourceAmounts;
  readonly selinuxEnabled: boolean;
  /** What containers must not see of the heat of CPUs. */
  readonly thermalThrottlePaths: readonly string[];
}
