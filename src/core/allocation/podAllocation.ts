/**
 * What the node has granted a pod: the resources of its containers and of the pod as a whole. The spec says what is
 * wanted, the allocation what is promised, the runtime what is in force. Counterpart: pkg/kubelet/allocation/state.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { isSidecar } from "../pod/restartRules.ts";
import { compareQuantity, type Quantity, parseQuantity } from "../quantity.ts";
import { allNamed } from "../findNamed.ts";

/** `resources` of a container, or of the pod. */
export type Requirements = NonNullable<Container["resources"]>;

/** Granted resources. */
export interface PodAllocation {
  /** Of the pod as a whole; absent when it states none. */
  readonly pod?: Requirements;
  /** By container name, init containers included. */
  readonly containers: Readonly<Record<string, Requirements>>;
}

/** What of a pod can be resized in place; the rest is what its spec says, ungranted. Both are on by default. */
export interface ResizableParts {
  /** InPlacePodVerticalScalingInitContainers: init containers that end by themselves; sidecars always can be. */
  readonly initContainers: boolean;
  /** InPlacePodLevelResourcesVerticalScaling: the resources of the pod as a whole. */
  readonly podLevel: boolean;
}

/** Whether a container of the pod can be resized in place. */
export const isResizableContainer = ({ spec }: Pick<Pod, "spec">, name: string, parts: ResizableParts): boolean =>
  parts.initContainers || allNamed(spec.initContainers ?? [], name).every(isSidecar);

/** The allocation, with what cannot be resized in place as the pod's spec has it. */
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

/** Init and regular containers: those that have an allocation. */
const allocatedContainers = ({ spec }: Pick<Pod, "spec">): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];

/** The allocation that grants a pod what its spec says; the same object for the same spec. */
export const allocationOf = ({ spec }: Pick<Pod, "spec">): PodAllocation => allocationOfSpec(spec);

const allocationOfSpec = perObject((spec: Pod["spec"]): PodAllocation => {
  const containers = allocatedContainers({ spec }).map(({ name, resources }) => [name, resources ?? {}] as const);
  const { resources } = spec;
  return { ...(resources === undefined ? {} : { pod: resources }), containers: Object.fromEntries(containers) };
});

/** No size is known of any container: whatever is granted has to be set again. */
export const unknownAllocation = ({ containers }: PodAllocation): PodAllocation => ({
  containers: Object.fromEntries(Object.keys(containers).map((name) => [name, {}])),
});

type Amounts = Requirements["requests"];

function sameAmounts(a: Amounts, b: Amounts): boolean {
  if (a === b) return true;
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  return [...names].every((name) => {
    // Mostly nothing has changed: then the texts say so.
    if (a?.[name] === b?.[name]) return true;
    const [left, right] = [amount(a, name), amount(b, name)];
    return left === undefined || right === undefined ? left === right : compareQuantity(left, right) === 0;
  });
}

const amount = (amounts: Amounts, name: string): Quantity | undefined => {
  const text = amounts?.[name];
  return text === undefined ? undefined : parseQuantity(text);
};

/** Whether two sections mean the same amounts, however they are written. */
export const sameRequirements = (a: Requirements | undefined, b: Requirements | undefined): boolean =>
  a === b || (sameAmounts(a?.requests, b?.requests) && sameAmounts(a?.limits, b?.limits));

/** The amounts two sections have in common: what is known while it is open which of them holds. */
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

/** Whether two allocations mean the same amounts. */
export function sameAllocation(a: PodAllocation, b: PodAllocation): boolean {
  if (a === b) return true;
  const names = new Set([...Object.keys(a.containers), ...Object.keys(b.containers)]);
  return (
    sameRequirements(a.pod, b.pod) &&
    [...names].every((name) => sameRequirements(a.containers[name], b.containers[name]))
  );
}

/** The pod with the allocation in place of the resources of its spec; the very same pod when they mean the same. */
export function withAllocation(pod: Pod, allocation: PodAllocation): Pod {
  const isSamePod = sameRequirements(pod.spec.resources, allocation.pod);
  const isSame = ({ name, resources }: Container): boolean => {
    const granted = allocation.containers[name];
    return granted === undefined || sameRequirements(resources, granted);
  };
  if (isSamePod && allocatedContainers(pod).every(isSame)) return pod;
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

/** Priority class system-node-critical: nobody is to make room for a pod by ending one that its source may yet name. */
const UNTOUCHABLE_PRIORITY = 2_000_001_000;

/** All that is known of a pod that runs before any source has told of it: enough to count what it takes of the node. */
export const unclaimedPod = (
  { podUid, name, namespace }: { readonly podUid: string; readonly name: string; readonly namespace: string },
  { pod, containers }: PodAllocation,
): Pod => ({
  metadata: { uid: podUid, name, namespace },
  spec: {
    priority: UNTOUCHABLE_PRIORITY,
    containers: Object.entries(containers).map(([container, resources]) => ({ name: container, resources })),
    ...(pod === undefined ? {} : { resources: pod }),
  },
});
