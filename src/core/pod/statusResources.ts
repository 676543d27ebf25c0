/**
 * Resources in statuses: per container from its spec, for the pod the effective sum. Upstream:
 * resourcehelper.PodRequests and PodLimits, convertContainerStatusResources.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { addQuantity, compareQuantity, formatQuantity, parseQuantity, type Quantity } from "../quantity.ts";
import { isSidecar } from "./containers.ts";

/** Amounts by resource name, in canonical form. */
export type ResourceAmounts = Readonly<Record<string, string>>;
/** A resources section of a status, without empty parts. */
export interface StatusResources {
  readonly limits?: ResourceAmounts;
  readonly requests?: ResourceAmounts;
}
type Part = "requests" | "limits";
type Sums = ReadonlyMap<string, Quantity>;

const NOTHING: Sums = new Map();

function parsed(amounts: Readonly<Record<string, string>> | undefined): Sums {
  return new Map(
    Object.entries(amounts ?? {}).flatMap(([name, text]): [string, Quantity][] => {
      const quantity = parseQuantity(text);
      return quantity === undefined ? [] : [[name, quantity]];
    }),
  );
}

function combined(a: Sums, b: Sums, join: (x: Quantity, y: Quantity) => Quantity): Sums {
  const result = new Map(a);
  for (const [name, quantity] of b) {
    const other = result.get(name);
    result.set(name, other === undefined ? quantity : join(other, quantity));
  }
  return result;
}

const add = (a: Sums, b: Sums): Sums => combined(a, b, addQuantity);
const max = (a: Sums, b: Sums): Sums => combined(a, b, (x, y) => (compareQuantity(x, y) < 0 ? y : x));

function printed(sums: Sums): ResourceAmounts {
  const names = [...sums.keys()].sort();
  return Object.fromEntries(
    names.map((name) => [name, formatQuantity(sums.get(name) ?? { nano: 0n, format: "DecimalSI" })]),
  );
}

/**
 * Returns the pod's peak need: regular containers and sidecars together, or one init container beside the sidecars
 * before it, whichever is larger. Pod-level amounts replace sums. Overhead is added to requests, and to limits that are
 * set.
 */
function podSums({ spec }: Pod, part: Part): Sums {
  const amounts = (container: Container): Sums => parsed(container.resources?.[part]);
  let peak = NOTHING;
  let sidecars = NOTHING;
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) sidecars = add(sidecars, amounts(container));
    peak = max(peak, isSidecar(container) ? sidecars : add(sidecars, amounts(container)));
  }
  const regular = spec.containers.reduce((sum, container) => add(sum, amounts(container)), NOTHING);
  const effective = combined(max(add(regular, sidecars), peak), parsed(spec.resources?.[part]), (_sum, own) => own);
  if (spec.overhead === undefined) return effective;
  const overhead = [...parsed(spec.overhead)];
  const isAdded = (name: string): boolean => part === "requests" || (effective.get(name)?.nano ?? 0n) > 0n;
  return add(effective, new Map(overhead.filter(([name]) => isAdded(name))));
}

const isEmpty = (amounts: ResourceAmounts): boolean => Object.keys(amounts).length === 0;

const section = (limits: ResourceAmounts, requests: ResourceAmounts): StatusResources => ({
  ...(isEmpty(limits) ? {} : { limits }),
  ...(isEmpty(requests) ? {} : { requests }),
});

/** Returns `resources` of a container status. */
export const containerStatusResources = perObject(
  ({ resources }: Container): StatusResources =>
    section(printed(parsed(resources?.limits)), printed(parsed(resources?.requests))),
);

/** `allocatedResources` and `resources` of a pod status, derived from the spec. */
export interface PodStatusResources {
  readonly allocatedResources?: ResourceAmounts;
  readonly resources: StatusResources;
}

/** Keeps what the pod's cgroup has (cpu and memory) and what the pod sets at pod level. */
const inCgroup = ({ spec }: Pod, part: Part, sums: Sums): Sums => {
  const stated = new Set(["cpu", "memory", ...Object.keys(spec.resources?.[part] ?? {})]);
  return new Map([...sums].filter(([name]) => stated.has(name)));
};

/** Allocated resources of a pod at its granted size. */
const granted = perObject((pod: Pod): PodStatusResources["allocatedResources"] => {
  const requests = podSums(pod, "requests");
  return requests.size === 0 ? undefined : printed(requests);
});

/** Resources of a pod at the size in force. */
const inForce = perObject((pod: Pod): StatusResources => {
  const sums = (part: Part): ResourceAmounts => printed(inCgroup(pod, part, podSums(pod, part)));
  return section(sums("limits"), sums("requests"));
});

/** Resources of a pod before it is known to run. */
const effective = perObject(
  (pod: Pod): StatusResources => section(printed(podSums(pod, "limits")), printed(podSums(pod, "requests"))),
);

/**
 * Returns the allocated resources of a pod and those in force, which cover fewer resources once the pod is known to
 * run.
 */
export function podStatusResources(pod: Pod, actual: Pod, isKnownToRun: boolean): PodStatusResources {
  const allocatedResources = granted(pod);
  const resources = isKnownToRun ? inForce(actual) : effective(actual);
  return { ...(allocatedResources === undefined ? {} : { allocatedResources }), resources };
}
