/** Field table, part three: resources of the node - cgroups, CPU, memory and NUMA policies, reservations, eviction. */
import { type ConfigField, field, minutes, oneOf, seconds } from "./configField.ts";
import { DEFAULT_EVICTION_HARD } from "./evictionDefaults.ts";
import type { ConfigPath } from "./kubeletConfiguration.ts";

/** Rows of resources and eviction. */
export const RESOURCE_FIELDS = {
  kubeletCgroups: field("string", undefined, "Cgroup the kubelet itself runs in", {
    flag: "kubelet-cgroups",
    effective: true,
  }),
  systemCgroups: field("string", undefined, "Cgroup for processes outside of any cgroup", {
    flag: "system-cgroups",
    effective: true,
  }),
  cgroupRoot: field("string", undefined, "Root cgroup of pods; empty means the runtime's default", {
    flag: "cgroup-root",
    effective: true,
  }),
  cgroupsPerQOS: field("bool?", true, "Create a cgroup per QoS class and per pod", {
    flag: "cgroups-per-qos",
    effective: true,
  }),
  cgroupDriver: field("string", "cgroupfs", "cgroupfs or systemd, unless the runtime names its driver", {
    flag: "cgroup-driver",
    rule: oneOf("cgroupfs", "systemd"),
    effective: true,
  }),
  cpuManagerPolicy: field("string", "none", "none, or static to assign exclusive CPUs to some containers", {
    flag: "cpu-manager-policy",
    rule: oneOf("none", "static"),
    effective: true,
  }),
  cpuManagerPolicyOptions: field("map[string]string", undefined, "Fine tuning of the CPU policy", {
    flag: "cpu-manager-policy-options",
    effective: true,
  }),
  cpuManagerReconcilePeriod: field("duration", seconds(10), "Period of reconciling CPU assignments", {
    flag: "cpu-manager-reconcile-period",
    effective: true,
  }),
  memoryManagerPolicy: field("string", "None", "None, or Static to pin memory to NUMA nodes", {
    flag: "memory-manager-policy",
    rule: {
      kind: "oneOf",
      values: ["None", "Static"],
      elsewhere: { BestEffort: "this policy is for Windows, where the kernel cannot pin memory" },
    },
    effective: true,
  }),
  topologyManagerPolicy: field("string", "none", "none, best-effort, restricted or single-numa-node", {
    flag: "topology-manager-policy",
    rule: oneOf("none", "best-effort", "restricted", "single-numa-node"),
    effective: true,
  }),
  topologyManagerScope: field("string", "container", "Unit of alignment: container or pod", {
    flag: "topology-manager-scope",
    rule: oneOf("container", "pod"),
    effective: true,
  }),
  topologyManagerPolicyOptions: field("map[string]string", undefined, "Fine tuning of the topology policy", {
    flag: "topology-manager-policy-options",
    effective: true,
  }),
  qosReserved: field("map[string]string", undefined, "Share of requests kept from lower QoS classes: memory=50%", {
    flag: "qos-reserved",
    effective: true,
  }),
  memoryThrottlingFactor: field("float64?", 0.9, "Fraction of the memory limit at which memory.high throttles", {
    rule: { kind: "above", min: 0, max: 1 },
    effective: true,
  }),
  memoryReservationPolicy: field("string", "None", "None, or TieredReservation to protect requested memory", {
    rule: oneOf("None", "TieredReservation"),
    effective: true,
  }),
  memorySwap: field("object", undefined, "Swap for pods"),
  "memorySwap.swapBehavior": field("string", undefined, "NoSwap, or LimitedSwap to share the node's swap", {
    effective: true,
  }),
  failSwapOn: field("bool?", true, "Fail to start while swap is on", { flag: "fail-swap-on", effective: true }),
  failCgroupV1: field("bool?", true, "Fail to start on cgroup v1", {
    flag: "fail-cgroupv1",
    effective: true,
  }),
  systemReserved: field("map[string]string", undefined, "Resources kept for the system: cpu, memory, pid, ...", {
    flag: "system-reserved",
    effective: true,
  }),
  kubeReserved: field("map[string]string", undefined, "Resources kept for Kubernetes: cpu, memory, pid, ...", {
    flag: "kube-reserved",
    effective: true,
  }),
  systemReservedCgroup: field("string", undefined, "Cgroup that systemReserved is enforced on", {
    flag: "system-reserved-cgroup",
    effective: true,
  }),
  kubeReservedCgroup: field("string", undefined, "Cgroup that kubeReserved is enforced on", {
    flag: "kube-reserved-cgroup",
    effective: true,
  }),
  reservedSystemCPUs: field("string", undefined, "CPUs kept for system and Kubernetes, such as 0-3", {
    flag: "reserved-cpus",
    rule: { kind: "cpuList" },
    effective: true,
  }),
  reservedMemory: field("[]object", undefined, "Memory kept on each NUMA node", {
    flag: "reserved-memory",
    effective: true,
  }),
  "reservedMemory[].numaNode": field("int32", undefined, "NUMA node", { effective: true }),
  "reservedMemory[].limits": field("map[string]quantity", undefined, "Amounts of memory and hugepages-<size>", {
    effective: true,
  }),
  enforceNodeAllocatable: field(
    "[]string",
    ["pods"],
    "Cgroups on which reservations are enforced: pods, system-reserved, kube-reserved",
    {
      flag: "enforce-node-allocatable",
      effective: true,
    },
  ),
  evictionHard: field("map[string]string", DEFAULT_EVICTION_HARD, "Signals that evict pods at once", {
    flag: "eviction-hard",
    effective: true,
  }),
  evictionSoft: field("map[string]string", undefined, "Signals that evict pods after a grace period", {
    flag: "eviction-soft",
    effective: true,
  }),
  evictionSoftGracePeriod: field("map[string]string", undefined, "Grace period of each soft signal", {
    flag: "eviction-soft-grace-period",
    effective: true,
  }),
  evictionPressureTransitionPeriod: field("duration", minutes(5), "Time before a pressure condition is lifted", {
    flag: "eviction-pressure-transition-period",
    effective: true,
  }),
  evictionMaxPodGracePeriod: field("int32", undefined, "Longest grace period in seconds of a soft eviction", {
    flag: "eviction-max-pod-grace-period",
    effective: true,
  }),
  evictionMinimumReclaim: field(
    "map[string]string",
    undefined,
    "Minimum amount that one eviction reclaims, per signal",
    {
      flag: "eviction-minimum-reclaim",
      effective: true,
    },
  ),
  mergeDefaultEvictionSettings: field("bool?", false, "Add the default thresholds to those of evictionHard", {
    effective: true,
  }),
  kernelMemcgNotification: field("bool", undefined, "Look at once when the kernel reports that memory is short", {
    flag: "kernel-memcg-notification",
    effective: true,
  }),
} as const satisfies Partial<Record<ConfigPath, ConfigField>>;
