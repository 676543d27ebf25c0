/**
 * The resources allocated to a pod: those of its containers and its pod-level resources. The spec has the desired
 * resources, the allocation the promised ones, the runtime the actuated ones. Upstream: pkg/kubelet/allocation/state.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { isSidecar, podContainers } from "../pod/containers.ts";
import { compareQuantity, type Quantity, parseQuantity } from "../quantity.ts";
import { allNamed } from "../findNamed.ts";

/** `resources` of a container, or of the pod. */
export type Requirements = NonNullable<Container["resources"]>;

/** The allocated resources. */
export interface PodAllocation {
  /** Pod-level resources; absent when the pod has none. */
  readonly pod?: Requirements;
  /** Keys: container names, init containers included. */
  readonly containers: Readonly<Record<string, Requirements>>;
}

/**
 * The parts of a pod that can be resized in place; the rest follows the spec without allocation. Both gates are on by
 * default.
 */
export interface ResizableParts {
  /** InPlacePodVerticalScalingInitContainers: regular init containers; sidecars can always be resized. */
  readonly initContainers: boolean;
  /** InPlacePodLevelResourcesVerticalScaling: pod-level resources. */
  readonly podLevel: boolean;
}

/** Returns whether a container of the pod can be resized in place. */
export const isResizableContainer = ({ spec }: Pick<Pod, "spec">, name: string, parts: ResizableParts): boolean =>
  parts.initContainers || allNamed(spec.initContainers ?? [], name).every(isSidecar);

/** Returns the allocation, with the spec's resources for parts that cannot be resized in place. */
export function followingSpec(allocation: PodAllocation, pod: Pick<Pod, "spec">, parts: ResizableParts): PodAllocation {
  if (parts.initContainers && parts.podLevel) return allocation;
  const wanted = allocationOf(pod);
  const follows = Object.entries(wanted.containers).filter(([name]) => !isResizableContainer(pod, name, parts));
  const own = parts.podLevel ? allocation.pod : wanted.pod;
  return {
    ...(own === undefined ? {} : { pod: own }),
    containers: { ...allocation.containers, ...Object.fromEntries(follows) },
  };
}

/** Returns the allocation equal to the pod's spec; the same object for the same spec. */
export const allocationOf = ({ spec }: Pick<Pod, "spec">): PodAllocation => allocationOfSpec(spec);

const allocationOfSpec = perObject((spec: Pod["spec"]): PodAllocation => {
  const containers = podContainers(spec).map(({ name, resources }) => [name, resources ?? {}] as const);
  const { resources } = spec;
  return { ...(resources === undefined ? {} : { pod: resources }), containers: Object.fromEntries(containers) };
});

/** Returns an allocation without any known size, so that every resource is actuated again. */
export const unknownAllocation = ({ containers }: PodAllocation): PodAllocation => ({
  containers: Object.fromEntries(Object.keys(containers).map((name) => [name, {}])),
});

type Amounts = Requirements["requests"];

function sameAmounts(a: Amounts, b: Amounts): boolean {
  if (a === b) return true;
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  return [...names].every((name) => {
    // The texts are equal in most cases, which avoids parsing.
    if (a?.[name] === b?.[name]) return true;
    const [left, right] = [amount(a, name), amount(b, name)];
    return left === undefined || right === undefined ? left === right : compareQuantity(left, right) === 0;
  });
}

const amount = (amounts: Amounts, name: string): Quantity | undefined => {
  const text = amounts?.[name];
  return text === undefined ? undefined : parseQuantity(text);
};

/** Returns whether two `resources` sections have equal amounts, in any notation. */
export const sameRequirements = (a: Requirements | undefined, b: Requirements | undefined): boolean =>
  a === b || (sameAmounts(a?.requests, b?.requests) && sameAmounts(a?.limits, b?.limits));

/** Returns the amounts that two sections share: the known ones while either section may be in effect. */
export const commonRequirements = (a: Requirements, b: Requirements): Requirements => ({
  requests: commonAmounts(a.requests, b.requests),
  limits: commonAmounts(a.limits, b.limits),
});

const commonAmounts = (a: Amounts, b: Amounts): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(a ?? {}).filter(
      ([name, text]) => b?.[name] !== undefined && sameAmounts({ [name]: text }, { [name]: b[name] }),
    ),
  );

/** Returns whether two allocations have equal amounts. */
export function sameAllocation(a: PodAllocation, b: PodAllocation): boolean {
  if (a === b) return true;
  const names = new Set([...Object.keys(a.containers), ...Object.keys(b.containers)]);
  return (
    sameRequirements(a.pod, b.pod) &&
    [...names].every((name) => sameRequirements(a.containers[name], b.containers[name]))
  );
}

/** Returns the pod with the allocation in place of its spec's resources; the same object when they are equal. */
export function withAllocation(pod: Pod, allocation: PodAllocation): Pod {
  const isSamePod = sameRequirements(pod.spec.resources, allocation.pod);
  const isSame = ({ name, resources }: Container): boolean => {
    const granted = allocation.containers[name];
    return granted === undefined || sameRequirements(resources, granted);
  };
  if (isSamePod && podContainers(pod.spec).every(isSame)) return pod;
  const granted = (each: Container): Container =>
    isSame(each) ? each : { ...each, resources: allocation.containers[each.name] ?? {} };
  const { resources: own, initContainers, containers, ...spec } = pod.spec;
  const resources = isSamePod ? own : allocation.pod;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(granted) }),
      containers: containers.map(granted),
      ...(resources === undefined ? {} : { resources }),
    },
  };
}

/** Priority class system-node-critical: a pod that its source may still name must not be preempted. */
const UNTOUCHABLE_PRIORITY = 2_000_001_000;

/**
 * Returns a minimal pod for one that runs before any source has named it, so that its resources count. Without known
 * requests, as in checkpoints of earlier versions, init containers count like regular ones.
 */
export const unclaimedPod = (
  { podUid, name, namespace }: { readonly podUid: string; readonly name: string; readonly namespace: string },
  { pod, containers }: PodAllocation,
  requests?: Requirements["requests"],
): Pod => ({
  metadata: { uid: podUid, name, namespace },
  spec: {
    priority: UNTOUCHABLE_PRIORITY,
    ...(requests === undefined
      ? {
          containers: Object.entries(containers).map(([container, resources]) => ({ name: container, resources })),
          ...(pod === undefined ? {} : { resources: pod }),
        }
      : { containers: [{ name, resources: { requests } }] }),
  },
});

/** Returns the pod at its granted size, for the parts of the spec that can be resized. */
export const podAtSize = (pod: Pod, granted: PodAllocation, parts: ResizableParts): Pod =>
  withAllocation(pod, followingSpec(granted, pod, parts));
