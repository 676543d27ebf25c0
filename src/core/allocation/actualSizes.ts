/**
 * What is in force of a pod's allocation: the size each running container was last set to, and the one its cgroup was
 * written for. The runtime is not asked: what it reports of CPU weights may be rounded. Counterpart: the actuated state
 * of kuberuntime_manager.go.
 */
import type { Container, Pod } from "../api.ts";
import type { ContainerId } from "../ids.ts";
import { newestContainer } from "../pod/restartRules.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import {
  allocationOf,
  commonRequirements,
  followingSpec,
  type PodAllocation,
  type Requirements,
  type ResizableParts,
  sameAllocation,
  sameRequirements,
  withAllocation,
} from "./podAllocation.ts";

/** Sizes in force, as far as this kubelet set them. */
export interface ActualSizes {
  /** Of container instances it made or resized. */
  readonly containers: ReadonlyMap<ContainerId, Requirements>;
  /** Of instances asked to take another size without an answer that they did: the amounts that hold either way. */
  readonly certain: ReadonlyMap<ContainerId, Requirements>;
  /** Of all others: what was allocated when they were made. */
  readonly others: PodAllocation;
  /** What the pod's cgroup was written for. */
  readonly cgroup: PodAllocation;
}

/** A container that runs, and the size it has. */
export interface SizedContainer {
  readonly spec: Container;
  readonly instance: RuntimeContainer;
  readonly actual: Requirements;
}

/** Running containers of the pod, init containers first, each with the size it has. */
export function sizedContainers(pod: Pod, runtime: PodRuntimeStatus, sizes: ActualSizes): readonly SizedContainer[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap((spec) => {
    const instance = newestContainer(runtime, spec.name);
    if (instance?.state !== "running") return [];
    return [{ spec, instance, actual: sizeOf(sizes, spec.name, instance.id) }];
  });
}

/** The pod at the size in force; what does not run has no size and counts at its allocated one. */
export function atActualSize(pod: Pod, runtime: PodRuntimeStatus, sizes: ActualSizes): Pod {
  const running = sizedContainers(pod, runtime, sizes).map(({ spec, actual }) => [spec.name, actual] as const);
  const { pod: _, containers } = allocationOf(pod);
  const own = sizes.cgroup.pod;
  return withAllocation(pod, {
    ...(own === undefined ? {} : { pod: own }),
    containers: { ...containers, ...Object.fromEntries(running) },
  });
}

/** Whether the pod's cgroup or one of these running containers has another size than the allocated one. */
export const isResizing = (
  pod: Pod,
  running: readonly SizedContainer[],
  { cgroup }: ActualSizes,
  parts: ResizableParts,
): boolean =>
  !sameAllocation(allocationOf(pod), followingSpec(cgroup, pod, parts)) ||
  running.some(({ spec, actual }) => !sameRequirements(spec.resources, actual));

/** Sizes of a pod of which nothing else is known: everything has this allocation. */
export const sizesOf = (allocation: PodAllocation): ActualSizes => ({
  containers: new Map(),
  certain: new Map(),
  others: allocation,
  cgroup: allocation,
});

/** With the size of one instance, as it was made or last set. */
export const withContainerSize = (sizes: ActualSizes, id: ContainerId, size: Requirements): ActualSizes => ({
  ...sizes,
  containers: new Map(sizes.containers).set(id, size),
  certain: new Map([...sizes.certain].filter(([each]) => each !== id)),
});

/** An instance is asked to take another size: until it is known to have it, either may hold. */
export const withAskedSize = (sizes: ActualSizes, name: string, id: ContainerId, size: Requirements): ActualSizes => ({
  ...sizes,
  certain: new Map(sizes.certain).set(id, commonRequirements(sizes.certain.get(id) ?? sizeOf(sizes, name, id), size)),
});

/** Nothing but what is certain: what a plan goes by. */
export const certainSizes = (sizes: ActualSizes): ActualSizes =>
  sizes.certain.size === 0 ? sizes : { ...sizes, containers: new Map([...sizes.containers, ...sizes.certain]) };

const sizeOf = ({ containers, others }: ActualSizes, name: string, id: ContainerId): Requirements =>
  containers.get(id) ?? others.containers[name] ?? {};

/** Containers whose size the runtime reports as the allocated one have it: an earlier kubelet came so far. */
export function withReportedSizes(
  pod: Pod,
  runtime: PodRuntimeStatus,
  sizes: ActualSizes,
  matches: (spec: Container, reported: RuntimeContainer) => boolean,
): ActualSizes {
  return sizedContainers(pod, runtime, sizes)
    .filter(({ spec, instance }) => !sizes.containers.has(instance.id) && matches(spec, instance))
    .reduce((known, { spec, instance }) => withContainerSize(known, instance.id, spec.resources ?? {}), sizes);
}
