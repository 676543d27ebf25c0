/** A node as CRI configs see it: cgroup v1 with 24684096 KiB of memory, a cluster DNS server. */
import type { NodeContext } from "../../src/core/container/nodeContext.ts";

/** The node, with what a test is about given by it. */
export const nodeContextOf = (more: Partial<NodeContext> = {}): NodeContext => ({
  directories: {
    rootDir: "/var/lib/kubelet",
    podLogsDir: "/var/log/pods",
    containerLogsDir: "/var/log/containers",
  },
  nodeIps: ["192.0.2.10"],
  isStandalone: false,
  hostIpUnknown: "host IP unknown; known addresses: []",
  clusterDns: ["10.2.0.10"],
  clusterDomain: "cluster.local",
  cgroupRoot: "/",
  cgroupsPerQos: true,
  cgroupDriver: "cgroupfs",
  cpuCfsQuota: true,
  cpuCfsPeriodUs: 100_000,
  memoryQos: undefined,
  podSwapBytes: undefined,
  seccompDefault: false,
  cgroupVersion: 1,
  sharedCpus: "",
  swapControllerAvailable: true,
  singleProcessOomKill: true,
  memoryBytes: 24_684_096n * 1024n,
  hugepageSizes: ["2MB", "1GB"],
  allocatable: { cpu: "2", memory: "24581696Ki", "ephemeral-storage": "267847642337" },
  selinuxEnabled: false,
  thermalThrottlePaths: [],
  ...more,
});
