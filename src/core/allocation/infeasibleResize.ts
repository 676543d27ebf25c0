/**
 * Decides whether a resize is infeasible on this node, whatever else runs on it. The checks run in upstream's order and
 * the first failure counts. The API server rejects a resize that is larger than the node; without an API server it
 * stays deferred. Upstream: pkg/kubelet/allocation/handlers.go.
 */
import type { Pod } from "../api.ts";
import { podQosClass } from "../pod/qos.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { allocationOf, sameRequirements } from "./podAllocation.ts";

/** The node's settings that can make a resize infeasible. */
export interface ResizeNode {
  /** `static` assigns exclusive CPUs to Guaranteed pods, which then cannot be resized unless a gate allows it. */
  readonly cpuManagerPolicy: string;
  /** `Static` pins the memory of Guaranteed pods, which then cannot be resized unless a gate allows it. */
  readonly memoryManagerPolicy: string;
  readonly resizeGates: ResizeGates;
}

/** Gates that allow resizes of pinned resources; both are off by default. */
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

/**
 * Returns why the spec's size is infeasible; undefined when it may fit. `allocated` is the pod with its current
 * allocation.
 */
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

/** Returns whether a container's request changes; in a Guaranteed pod the limit equals it. */
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
