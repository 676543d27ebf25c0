/**
 * Decides whether a resize is infeasible on this node, whatever else runs on it. The checks run in upstream's order and
 * the first failure counts. The API server rejects a resize that is larger than the node; without an API server it
 * stays deferred. Upstream: pkg/kubelet/allocation/handlers.go.
 */
import type { Container, Pod } from "../api.ts";
import { podQosClass } from "../pod/qos.ts";
import { maySwap, type SwapNode } from "../resources/containerSwap.ts";
import { containerRequests } from "../resources/podResources.ts";
import { type ResourceAmounts, resourceValue } from "../resources/resourceList.ts";
import { allocationOf, sameRequirements } from "./podAllocation.ts";

/** The node's settings that can make a resize infeasible. */
export interface ResizeNode extends Pick<SwapNode, "podSwapBytes"> {
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
  if (changesSwap(pod, allocated, node)) {
    return { message: "In-place resize of containers with swap is not supported.", detail: "swap_limitation" };
  }
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

/**
 * Returns whether the memory request of a container with swap changes, without a restart of the container. Its swap limit
 * derives from the request.
 */
function changesSwap(pod: Pod, allocated: Pod, node: Pick<SwapNode, "podSwapBytes">): boolean {
  if (node.podSwapBytes === undefined) return false;
  const granted = new Map(containersOf(allocated).map((container) => [container.name, container]));
  return containersOf(pod).some((container) => {
    const before = granted.get(container.name);
    if (before === undefined || restartsForMemory(before)) return false;
    const isSame = memoryRequest(before) === memoryRequest(container);
    return !isSame && (maySwap(pod, container, node) || maySwap(allocated, before, node));
  });
}

const containersOf = ({ spec }: Pod): readonly Container[] => [...spec.containers, ...(spec.initContainers ?? [])];
const memoryRequest = (container: Container): bigint => resourceValue(containerRequests(container), "memory");
const restartsForMemory = ({ resizePolicy = [] }: Container): boolean =>
  resizePolicy.find(({ resourceName }) => resourceName === "memory")?.restartPolicy === "RestartContainer";

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
