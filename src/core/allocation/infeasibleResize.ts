/**
 * Resizes this node can never grant, whatever else runs on it. Checks in upstream's order, the first refusal counts. One
 * that is too large for the node is refused by the API server, and waits where that did not happen.
 * Counterpart: pkg/kubelet/allocation/handlers.go.
 */
import type { Pod } from "../api.ts";
import { podQosClass } from "../pod/qos.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { allocationOf, sameRequirements } from "./podAllocation.ts";

/** What of the node is given away once and for all. */
export interface ResizeNode {
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
