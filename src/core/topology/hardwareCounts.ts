/**
 * Counters of a decision about the hardware of a pod: containers whose resources are aligned, and, with the gate
 * PodLevelResourceManagers, allocations of the CPU and memory manager. Upstream: scope_*.go of topologymanager and the
 * policy_static.go of cpumanager and memorymanager.
 */
import type { Container, Pod } from "../api.ts";
import { type CpuPolicy, exclusiveCpuCount } from "../cpu/cpuPolicy.ts";
import { cpuSetText } from "../cpu/cpuSet.ts";
import { placesOf } from "../cpu/cpuTopology.ts";
import { type MemoryPolicy, memoryRequests } from "../numaMemory/memoryPolicy.ts";
import { podContainers } from "../pod/containers.ts";
import { isPlacedAsWhole, type TopologyPolicy } from "./assignHardware.ts";
import { type ContainerHardware, type HardwareRefusal, type PodHardware, WHOLE_POD } from "./hardware.ts";

/** An amount to add to a counter. */
export interface HardwareCount {
  readonly metric:
    | "kubelet_container_aligned_compute_resources_count"
    | "kubelet_container_aligned_compute_resources_failure_count"
    | "kubelet_resource_manager_allocations_total"
    | "kubelet_resource_manager_allocation_errors_total"
    | "kubelet_resource_manager_container_assignments";
  readonly labels: Readonly<Record<string, string>>;
  readonly by: number;
}

/** The policies of a node. */
export interface CountedPolicies {
  readonly topology: TopologyPolicy;
  readonly cpus: CpuPolicy | undefined;
  readonly memory: MemoryPolicy | undefined;
}

type Outcome = { readonly hardware: PodHardware } | { readonly refusal: HardwareRefusal };

/** Returns what a decision adds. `kept`: hardware that an earlier kubelet process gave the pod, which counts only once. */
export function hardwareCounts(
  pod: Pod,
  outcome: Outcome,
  kept: PodHardware | undefined,
  policies: CountedPolicies,
): readonly HardwareCount[] {
  const counts =
    "refusal" in outcome
      ? refusalCounts(pod, outcome.refusal, policies)
      : [
          ...placeCounts(pod, policies),
          ...cpuCounts(pod, outcome.hardware, kept, policies),
          ...memoryCounts(pod, outcome.hardware, kept, policies),
        ];
  return counts.filter(({ by }) => by > 0);
}

/** Returns the counters that are 0 before the first decision, as upstream has them. */
export function startingCounts({ topology, cpus }: CountedPolicies): readonly HardwareCount[] {
  const places = (["container", "pod"] as const).flatMap((scope) => [
    aligned("numa_node", 0, scope),
    misaligned("numa_node", 0, scope),
  ]);
  const cores = [aligned("uncore_cache", 0), aligned("physical_cpu", 0), misaligned("physical_cpu", 0)];
  return [...(cpus === undefined ? [] : cores), ...(topology.name === "none" ? [] : places)];
}

const aligned = (boundary: string, by: number, scope: TopologyPolicy["scope"] = "container"): HardwareCount => ({
  metric: "kubelet_container_aligned_compute_resources_count",
  labels: { boundary, scope },
  by,
});

const misaligned = (boundary: string, by: number, scope: TopologyPolicy["scope"] = "container"): HardwareCount => ({
  metric: "kubelet_container_aligned_compute_resources_failure_count",
  labels: { boundary, scope },
  by,
});

function refusalCounts(pod: Pod, { by }: HardwareRefusal, policies: CountedPolicies): readonly HardwareCount[] {
  const { topology, cpus, memory } = policies;
  const isWhole = isPlacedAsWhole(pod, topology);
  const failed = (resource_name: string): HardwareCount => ({
    metric: "kubelet_resource_manager_allocation_errors_total",
    labels: { resource_name, source: isWhole ? "pod" : "node" },
    by: 1,
  });
  if (by === undefined) return topology.name === "single-numa-node" ? [misaligned("numa_node", 1, topology.scope)] : [];
  const cores = by === "cpus" && cpus?.options.fullCores === true && !isWhole ? [misaligned("physical_cpu", 1)] : [];
  if (by === "cpus") return cpus?.podLevel === true ? [...cores, failed("cpu")] : cores;
  return by === "memory" && memory?.podLevel === true ? [failed("memory")] : [];
}

/** Only this policy guarantees that the resources are on one NUMA node. */
const placeCounts = ({ spec }: Pod, { topology: { name, scope } }: CountedPolicies): readonly HardwareCount[] =>
  name === "single-numa-node" ? [aligned("numa_node", scope === "pod" ? 1 : podContainers(spec).length, scope)] : [];

/** Counts of a manager whose allocations have a source: the node, or the pod as a whole. */
const managed = (
  resource_name: string,
  source: "node" | "pod",
  allocations: number,
  assignments: Readonly<Record<string, number>>,
): readonly HardwareCount[] => [
  { metric: "kubelet_resource_manager_allocations_total", labels: { resource_name, source }, by: allocations },
  ...Object.entries(assignments).map(([assignment_type, by]): HardwareCount => {
    const labels = { resource_name, assignment_type };
    return { metric: "kubelet_resource_manager_container_assignments", labels, by };
  }),
];

/** Every container of the pod counts; those without hardware for themselves share that of the pod. */
function managedWhole(resource_name: string, pod: Pod, isAlone: (container: Container) => boolean) {
  const all = podContainers(pod.spec);
  const alone = all.filter(isAlone).length;
  return managed(resource_name, "pod", all.length, { pod_exclusive: alone, pod_shared: all.length - alone });
}

function cpuCounts(
  pod: Pod,
  hardware: PodHardware,
  kept: PodHardware | undefined,
  { cpus: policy }: CountedPolicies,
): readonly HardwareCount[] {
  if (policy === undefined) return [];
  const textOf = (of: ContainerHardware | undefined): string | undefined => of?.cpus && cpuSetText(of.cpus);
  const whole = hardware.get(WHOLE_POD);
  const owners = whole?.cpus === undefined ? [...hardware] : [[WHOLE_POD, whole] as const];
  const fresh = owners.flatMap(([name, of]) => {
    const isNew = of.cpus !== undefined && textOf(kept?.get(name)) !== textOf(of);
    return isNew ? [of.cpus ?? []] : [];
  });
  const inOneCache = fresh.filter(
    (cpus) => new Set(placesOf(policy.topology, cpus).map(({ cache }) => cache)).size <= 1,
  );
  const alone = (container: Container): boolean => exclusiveCpuCount(pod, container, policy) > 0;
  const isWhole = whole?.cpus !== undefined;
  const inCores = policy.options.fullCores && !isWhole ? podContainers(pod.spec).filter(alone).length : 0;
  const counts = [aligned("uncore_cache", inOneCache.length), aligned("physical_cpu", inCores)];
  if (policy.podLevel !== true || fresh.length === 0) return counts;
  const allocations = isWhole
    ? managedWhole("cpu", pod, alone)
    : managed("cpu", "node", fresh.length, { node_exclusive: fresh.length });
  return [...counts, ...allocations];
}

function memoryCounts(
  pod: Pod,
  hardware: PodHardware,
  kept: PodHardware | undefined,
  { memory: policy }: CountedPolicies,
): readonly HardwareCount[] {
  if (policy?.podLevel !== true) return [];
  const isNew = (name: string): boolean => kept?.get(name)?.memory === undefined;
  if (hardware.get(WHOLE_POD)?.memory !== undefined) {
    const alone = (container: Container): boolean => {
      const requests = memoryRequests(pod, container, policy);
      return requests !== "invalid" && requests.size > 0;
    };
    return isNew(WHOLE_POD) ? managedWhole("memory", pod, alone) : [];
  }
  const blocks = [...hardware].flatMap(([name, { memory }]) => (memory !== undefined && isNew(name) ? [memory] : []));
  const allocations = blocks.reduce((sum, { length }) => sum + length, 0);
  return managed("memory", "node", allocations, { node_exclusive: blocks.length });
}
