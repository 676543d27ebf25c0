/**
 * Total resources of a pod: containers, sidecars, the largest step of initialization, pod-level resources and overhead.
 * The rule is part of the API. Upstream: k8s.io/component-helpers/resource.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { isSidecar } from "../pod/containers.ts";
import { addQuantity } from "../quantity.ts";
import { type ResourceList, addResources, maxResources, parseResourceList } from "./resourceList.ts";

type PodSpecOf = Pick<Pod, "spec">;
type ResourcesOf = (container: Container) => ResourceList;

const EMPTY: ResourceList = new Map();

/** Whether pod overhead counts. */
export interface PodResourcesOptions {
  readonly excludeOverhead?: boolean;
}

/** Returns the requests of one container. */
export const containerRequests: ResourcesOf = perObject(({ resources }) => parseResourceList(resources?.requests));
/** Returns the limits of one container. */
export const containerLimits: ResourcesOf = perObject(({ resources }) => parseResourceList(resources?.limits));

const isPodLevelResource = (name: string): boolean =>
  name === "cpu" || name === "memory" || name.startsWith("hugepages-");

function podLevel(amounts: NonNullable<Container["resources"]>["requests"]): ResourceList {
  return new Map([...parseResourceList(amounts)].filter(([name]) => isPodLevelResource(name)));
}

/** Returns the pod-level requests of supported resources; empty when there are none. */
export const podLevelRequests = (pod: PodSpecOf): ResourceList => podLevel(pod.spec.resources?.requests);
/** Returns the pod-level limits of supported resources; empty when there are none. */
export const podLevelLimits = (pod: PodSpecOf): ResourceList => podLevel(pod.spec.resources?.limits);

/** Returns the maximum that containers use at one time: while running, or at the largest step of initialization. */
function aggregate(pod: PodSpecOf, of: ResourcesOf): ResourceList {
  let running = pod.spec.containers.reduce((sum, container) => addResources(sum, of(container)), EMPTY);
  let sidecars = EMPTY;
  let initializing = EMPTY;
  for (const container of pod.spec.initContainers ?? []) {
    const own = of(container);
    const during = addResources(own, sidecars);
    if (isSidecar(container)) {
      running = addResources(running, own);
      sidecars = during;
    }
    initializing = maxResources(initializing, during);
  }
  return maxResources(running, initializing);
}

/** Returns the requests of all containers together, without pod-level resources and overhead. */
export const aggregateContainerRequests = (pod: PodSpecOf): ResourceList => aggregate(pod, containerRequests);

/** Returns the total requests of a pod, as admission and cgroups count them. */
export const podRequests = (
  { spec }: PodSpecOf,
  { excludeOverhead = false }: PodResourcesOptions = {},
): ResourceList => (excludeOverhead ? ownRequests(spec) : requestsWithOverhead(spec));

const ownRequests = (spec: Pod["spec"]): ResourceList =>
  new Map([...aggregateContainerRequests({ spec }), ...podLevelRequests({ spec })]);

/** Cached, since admission compares every pod with all others. */
const requestsWithOverhead = perObject(
  (spec: Pod["spec"]): ResourceList => addResources(ownRequests(spec), parseResourceList(spec.overhead)),
);

/** Returns the total limits of a pod. Overhead only adds to existing limits. */
export function podLimits(pod: PodSpecOf, options: PodResourcesOptions = {}): ResourceList {
  const limits = new Map([...aggregate(pod, containerLimits), ...podLevelLimits(pod)]);
  if (options.excludeOverhead) return limits;
  for (const [name, extra] of parseResourceList(pod.spec.overhead)) {
    const limit = limits.get(name);
    if (limit !== undefined && limit.nano !== 0n) limits.set(name, addQuantity(limit, extra));
  }
  return limits;
}
