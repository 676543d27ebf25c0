/**
 * What a pod asks for in total: containers, sidecars, the largest step of initialization, pod-level resources and
 * overhead. The rule is part of the API. Counterpart: k8s.io/component-helpers/resource.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { addQuantity } from "../quantity.ts";
import { type ResourceList, addResources, maxResources, parseResourceList } from "./resourceList.ts";

type PodSpecOf = Pick<Pod, "spec">;
type ResourcesOf = (container: Container) => ResourceList;

const EMPTY: ResourceList = new Map();

/** Whether pod overhead counts. */
export interface PodResourcesOptions {
  readonly excludeOverhead?: boolean;
}

/** True for init containers that keep running beside the others. */
export const isSidecar = (container: Pick<Container, "restartPolicy">): boolean => container.restartPolicy === "Always";

/** Requests of one container. */
export const containerRequests: ResourcesOf = perObject(({ resources }) => parseResourceList(resources?.requests));
/** Limits of one container. */
export const containerLimits: ResourcesOf = perObject(({ resources }) => parseResourceList(resources?.limits));

const isPodLevelResource = (name: string): boolean =>
  name === "cpu" || name === "memory" || name.startsWith("hugepages-");

function podLevel(amounts: NonNullable<Container["resources"]>["requests"]): ResourceList {
  return new Map([...parseResourceList(amounts)].filter(([name]) => isPodLevelResource(name)));
}

/** Requests set for the pod as a whole, of the resources that may be; empty when there are none. */
export const podLevelRequests = (pod: PodSpecOf): ResourceList => podLevel(pod.spec.resources?.requests);
/** Limits set for the pod as a whole, of the resources that may be; empty when there are none. */
export const podLevelLimits = (pod: PodSpecOf): ResourceList => podLevel(pod.spec.resources?.limits);

/** The most the containers use at one time: while running, or at the largest step of initialization. */
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

/** Requests of all containers together, without pod-level resources and overhead. */
export const aggregateContainerRequests = (pod: PodSpecOf): ResourceList => aggregate(pod, containerRequests);

/** Total requests of a pod: what admission and cgroups count. */
export const podRequests = (
  { spec }: PodSpecOf,
  { excludeOverhead = false }: PodResourcesOptions = {},
): ResourceList => (excludeOverhead ? ownRequests(spec) : requestsWithOverhead(spec));

const ownRequests = (spec: Pod["spec"]): ResourceList =>
  new Map([...aggregateContainerRequests({ spec }), ...podLevelRequests({ spec })]);

/** Every pod is judged beside all others, so each one's sum is worked out once. */
const requestsWithOverhead = perObject(
  (spec: Pod["spec"]): ResourceList => addResources(ownRequests(spec), parseResourceList(spec.overhead)),
);

/** Total limits of a pod. Overhead only adds to limits that are there: no limit stays no limit. */
export function podLimits(pod: PodSpecOf, options: PodResourcesOptions = {}): ResourceList {
  const limits = new Map([...aggregate(pod, containerLimits), ...podLevelLimits(pod)]);
  if (options.excludeOverhead) return limits;
  for (const [name, extra] of parseResourceList(pod.spec.overhead)) {
    const limit = limits.get(name);
    if (limit !== undefined && limit.nano !== 0n) limits.set(name, addQuantity(limit, extra));
  }
  return limits;
}
