/**
 * The actuated resources of a pod: the size each running container was last set to, and the size its cgroup was last
 * written for. The runtime is not asked, since it may round CPU weights. Upstream: the actuated state of
 * kuberuntime_manager.go.
 */
import type { Container, Pod } from "../api.ts";
import type { ContainerId } from "../ids.ts";
import { podContainers } from "../pod/containers.ts";
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

/** The size that an instance was created with or last resized to. */
export interface InstanceSize {
  readonly own: Requirements;
  /** The pod-level resources at that time: a container without a limit of its own gets their limit. */
  readonly pod: Requirements | undefined;
}

/** Returns the size that the spec gives to one of its containers. */
export const specifiedSize = ({ spec }: Pick<Pod, "spec">, { resources }: Container): InstanceSize => ({
  own: resources ?? {},
  pod: spec.resources,
});

/** Actuated sizes, as far as this kubelet set them. */
export interface ActualSizes {
  /** Sizes of container instances that this kubelet created or resized. */
  readonly containers: ReadonlyMap<ContainerId, InstanceSize>;
  /** Sizes of instances whose resize call had no answer: the amounts that both possible sizes share. */
  readonly certain: ReadonlyMap<ContainerId, InstanceSize>;
  /** Sizes of all other instances: the allocation when they were created. */
  readonly others: PodAllocation;
  /** The size the pod's cgroup was last written for. */
  readonly cgroup: PodAllocation;
}

/** A running container with its actuated size. */
export interface SizedContainer {
  readonly spec: Container;
  readonly instance: RuntimeContainer;
  readonly actual: InstanceSize;
}

/** Returns the running containers of the pod, init containers first, each with its actuated size. */
export function sizedContainers(pod: Pod, runtime: PodRuntimeStatus, sizes: ActualSizes): readonly SizedContainer[] {
  return podContainers(pod.spec).flatMap((spec) => {
    const instance = newestContainer(runtime, spec.name);
    if (instance?.state !== "running") return [];
    return [{ spec, instance, actual: sizeOf(sizes, spec.name, instance.id) }];
  });
}

/** Returns the pod with actuated sizes; containers that do not run count with their allocated resources. */
export function atActualSize(pod: Pod, runtime: PodRuntimeStatus, sizes: ActualSizes): Pod {
  const running = sizedContainers(pod, runtime, sizes).map(({ spec, actual }) => [spec.name, actual.own] as const);
  const { pod: _, containers } = allocationOf(pod);
  const own = sizes.cgroup.pod;
  return withAllocation(pod, {
    ...(own === undefined ? {} : { pod: own }),
    containers: { ...containers, ...Object.fromEntries(running) },
  });
}

/** Returns whether the pod's cgroup or a running container differs from the allocated size. */
export const isResizing = (
  pod: Pod,
  running: readonly SizedContainer[],
  { cgroup }: ActualSizes,
  parts: ResizableParts,
): boolean =>
  !sameAllocation(allocationOf(pod), followingSpec(cgroup, pod, parts)) ||
  running.some(
    ({ spec, actual }) =>
      !sameRequirements(spec.resources, actual.own) ||
      (parts.podLevel && !sameRequirements(pod.spec.resources, actual.pod)),
  );

/** Returns the sizes of a pod whose only known state is this allocation. */
export const sizesOf = (allocation: PodAllocation): ActualSizes => ({
  containers: new Map(),
  certain: new Map(),
  others: allocation,
  cgroup: allocation,
});

/** Returns the sizes with an instance's new size, after it was created or resized. */
export const withContainerSize = (sizes: ActualSizes, id: ContainerId, size: InstanceSize): ActualSizes =>
  withContainerSizes(sizes, [[id, size]]);

/** Returns the sizes with the new sizes of several instances. Copies once: a copy for each takes quadratic time. */
export function withContainerSizes(
  sizes: ActualSizes,
  known: readonly (readonly [ContainerId, InstanceSize])[],
): ActualSizes {
  const certain = new Map(sizes.certain);
  for (const [id] of known) certain.delete(id);
  return { ...sizes, containers: new Map([...sizes.containers, ...known]), certain };
}

/** Returns the sizes after a resize call without an answer: the instance may have either size. */
export const withAskedSize = (sizes: ActualSizes, name: string, id: ContainerId, size: InstanceSize): ActualSizes => ({
  ...sizes,
  certain: new Map(sizes.certain).set(id, commonSize(sizes.certain.get(id) ?? sizeOf(sizes, name, id), size)),
});

const commonSize = (a: InstanceSize, b: InstanceSize): InstanceSize => ({
  own: commonRequirements(a.own, b.own),
  pod: commonRequirements(a.pod ?? {}, b.pod ?? {}),
});

/** Returns the sizes that are certain; plans use these. */
export const certainSizes = (sizes: ActualSizes): ActualSizes =>
  sizes.certain.size === 0 ? sizes : { ...sizes, containers: new Map([...sizes.containers, ...sizes.certain]) };

const sizeOf = ({ containers, others }: ActualSizes, name: string, id: ContainerId): InstanceSize =>
  containers.get(id) ?? { own: others.containers[name] ?? {}, pod: others.pod };

/** Records the allocated size of containers for which the runtime reports it: an earlier kubelet resized them. */
export function withReportedSizes(
  pod: Pod,
  runtime: PodRuntimeStatus,
  sizes: ActualSizes,
  matches: (spec: Container, reported: RuntimeContainer) => boolean,
): ActualSizes {
  const reported = sizedContainers(pod, runtime, sizes)
    .filter(({ spec, instance }) => !sizes.containers.has(instance.id) && matches(spec, instance))
    .map(({ spec, instance }) => [instance.id, specifiedSize(pod, spec)] as const);
  return withContainerSizes(sizes, reported);
}
