/**
 * Defaults of resource requirements: container requests from limits, and pod-level resources from the containers when
 * the pod sets any. Amounts are rounded up to thousandths, as everywhere in the API. Upstream: defaultPodRequests,
 * defaultPodLimits and defaultHugePagePodLimits (pkg/apis/core/v1/defaults.go).
 */
import type { Container, PodSpec } from "../api.ts";
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilli,
  quantityOf,
  quantityOfMilli,
} from "../quantity.ts";
import { isSidecar, podContainers, regularFirst } from "./containers.ts";
import { isHugePages, isPodLevelResource } from "./resourceNames.ts";

type Amounts = Readonly<Record<string, string>>;
type Part = "requests" | "limits";

const ZERO = quantityOf(0);

function roundToMilli(amounts: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, text]) => {
      const quantity = parseQuantity(text);
      const rounded = quantity && quantityOfMilli(quantityMilli(quantity), quantity.format);
      return [name, rounded === undefined ? text : formatQuantity(rounded)];
    }),
  );
}

const NO_RESOURCES: NonNullable<Container["resources"]> = {};

/** Returns the container with amounts rounded, and a request for every limit without one. */
export function defaultRequests(container: Container): Container {
  const { resources = NO_RESOURCES } = container;
  if (resources.limits === undefined && resources.requests === undefined) return { ...container, resources };
  const limits = resources.limits && roundToMilli(resources.limits);
  const requests = { ...limits, ...(resources.requests && roundToMilli(resources.requests)) };
  return { ...container, resources: { ...resources, ...(limits && { limits }), requests } };
}

const amountOf = (container: Container, part: Part, name: string): Quantity =>
  parseQuantity(container.resources?.[part]?.[name] ?? "") ?? ZERO;

const larger = (a: Quantity, b: Quantity): Quantity => (compareQuantity(a, b) >= 0 ? a : b);

/**
 * Returns the pod's need of one resource: the larger of the sum of containers and sidecars, and the peak during
 * initialization (an init container beside the sidecars started before it).
 */
export function aggregateAmount(spec: PodSpec, part: Part, name: string): Quantity {
  let sidecars = ZERO;
  let initPeak = ZERO;
  for (const container of spec.initContainers ?? []) {
    const moment = addQuantity(sidecars, amountOf(container, part, name));
    if (isSidecar(container)) sidecars = moment;
    initPeak = larger(initPeak, moment);
  }
  const running = spec.containers.reduce((sum, each) => addQuantity(sum, amountOf(each, part, name)), sidecars);
  return larger(running, initPeak);
}

/** Names of the resources that any container sets, in order of appearance. */
export function resourceNamesOf(spec: PodSpec, part: Part): readonly string[] {
  return [...new Set(regularFirst(spec).flatMap((container) => Object.keys(container.resources?.[part] ?? {})))];
}

/** Adds the aggregated amount of each of `names` that `amounts` lacks. */
function completed(amounts: Amounts, spec: PodSpec, part: Part, names: readonly string[]): Amounts {
  const missing = names.filter((name) => !Object.hasOwn(amounts, name));
  return {
    ...amounts,
    ...Object.fromEntries(missing.map((name) => [name, formatQuantity(aggregateAmount(spec, part, name))])),
  };
}

/** Whether every container, including init containers, limits the resource. */
const isLimitedEverywhere = (spec: PodSpec, name: string): boolean =>
  podContainers(spec).every((container) => container.resources?.limits?.[name] !== undefined);

/** Completes pod-level requests and limits from the containers, when the pod sets any. */
export function defaultPodResources(spec: PodSpec): PodSpec {
  if (spec.resources === undefined) return spec;
  const stated = {
    requests: roundToMilli(spec.resources.requests ?? {}),
    limits: roundToMilli(spec.resources.limits ?? {}),
  };
  const isStated = (part: Part): boolean => Object.keys(stated[part]).length > 0;
  if (!isStated("requests") && !isStated("limits")) return spec;

  const hugePages = resourceNamesOf(spec, "limits").filter(
    (name) => isHugePages(name) && stated.requests[name] === undefined,
  );
  let limits = completed(stated.limits, spec, "limits", hugePages);
  let requests: Amounts = stated.requests;
  if (Object.keys(limits).length > 0) {
    const names = resourceNamesOf(spec, "requests").filter((name) => isPodLevelResource(name) && !isHugePages(name));
    const fromContainers = completed(requests, spec, "requests", names);
    const supported = Object.entries(limits).filter(([name]) => isPodLevelResource(name));
    requests = { ...Object.fromEntries(supported), ...fromContainers };
  } else {
    const names = resourceNamesOf(spec, "limits").filter(
      (name) => isPodLevelResource(name) && !isHugePages(name) && isLimitedEverywhere(spec, name),
    );
    limits = completed(limits, spec, "limits", names);
  }
  const some = (amounts: Amounts): boolean => Object.keys(amounts).length > 0;
  return {
    ...spec,
    resources: { ...spec.resources, ...(some(requests) && { requests }), ...(some(limits) && { limits }) },
  };
}
