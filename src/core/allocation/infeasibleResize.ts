/**
 * Resizes this node can never grant, whatever else runs on it. Checks in upstream's order, the first refusal counts.
 * Counterpart: pkg/kubelet/allocation/handlers.go.
 */
import type { Pod } from "../api.ts";
import { isStaticPod } from "../pod/criticalPod.ts";
import { podQosClass } from "../pod/qos.ts";
import { podRequests } from "../resources/podResources.ts";
import {
  type ResourceAmounts,
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../resources/resourceList.ts";
import { allocationOf, sameRequirements } from "./podAllocation.ts";

/** What the node cannot give away twice. */
export interface ResizeNode {
  readonly allocatable: ResourceAmounts;
  /** `static` gives whole CPUs to Guaranteed pods, which then cannot be resized but for a gate. */
  readonly cpuManagerPolicy: string;
  /** `Static` pins memory of Guaranteed pods, which then cannot be resized but for a gate. */
  readonly memoryManagerPolicy: string;
  readonly resizeGates: ResizeGates;
}

/** Gates that let through what is pinned; both are off by default. */
export interface ResizeGates {
  /** InPlacePodVerticalScalingExclusiveCPUs. */
  readonly exclusiveCpus: boolean;
  /** InPlacePodVerticalScalingExclusiveMemory. */
  readonly exclusiveMemory: boolean;
}

/** Why a resize is infeasible. */
export interface Infeasible {
  readonly message: string;
  /** Label `reason_detail` of kubelet_pod_infeasible_resizes_total. */
  readonly detail: string;
}

/** Why the spec's size can never be granted; undefined when it may fit. `allocated` is the pod as it is granted now. */
export function infeasibleResize(pod: Pod, allocated: Pod, node: ResizeNode): Infeasible | undefined {
  if (isStaticPod(pod)) return { message: "In-place resize of static-pods is not supported", detail: "static_pod" };
  return pinned(pod, allocated, node) ?? tooLarge(pod, parseResourceList(node.allocatable));
}

function pinned(pod: Pod, allocated: Pod, node: ResizeNode): Infeasible | undefined {
  if (podQosClass(pod) !== "Guaranteed") return undefined;
  const because = (manager: string, policy: string, resource: string): Infeasible => ({
    message: `Resize is infeasible for Guaranteed Pods alongside ${manager} Manager policy "${policy}"`,
    detail: `guaranteed_pod_${resource}_manager_static_policy`,
  });
  const { cpuManagerPolicy, memoryManagerPolicy, resizeGates } = node;
  const pinsCpus = cpuManagerPolicy === "static" && !resizeGates.exclusiveCpus;
  const pinsMemory = memoryManagerPolicy === "Static" && !resizeGates.exclusiveMemory;
  if (pinsCpus && changes(pod, allocated, "cpu")) return because("CPU", "static", "cpu");
  if (pinsMemory && changes(pod, allocated, "memory")) return because("Memory", "Static", "memory");
  return undefined;
}

/** Whether a container's request changes; in a Guaranteed pod the limit is the same. */
function changes(pod: Pod, allocated: Pod, name: "cpu" | "memory"): boolean {
  const granted = allocationOf(allocated).containers;
  const only = (requests: ResourceAmounts | undefined): { requests: ResourceAmounts } => {
    const amount = requests?.[name];
    return { requests: amount === undefined ? {} : { [name]: amount } };
  };
  return Object.entries(allocationOf(pod).containers).some(
    ([container, { requests }]) => !sameRequirements(only(requests), only(granted[container]?.requests)),
  );
}

// Differs from upstream: measured against allocatable as the node reports it. Upstream leaves out the eviction margin
// and so keeps waiting for a size that admission will never take.
function tooLarge(pod: Pod, allocatable: ResourceList): Infeasible | undefined {
  const wanted = podRequests(pod);
  const memory = [resourceValue(wanted, "memory"), resourceValue(allocatable, "memory")] as const;
  const cpu = [resourceMilli(wanted, "cpu"), resourceMilli(allocatable, "cpu")] as const;
  const told = (name: string, [requested, capacity]: readonly [bigint, bigint]): Infeasible => ({
    message: `Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}`,
    detail: "insufficient_node_allocatable",
  });
  if (memory[0] > memory[1]) return told("memory", memory);
  return cpu[0] > cpu[1] ? told("cpu", cpu) : undefined;
}
