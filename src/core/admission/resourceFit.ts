/**
 * Checks whether a pod's requests fit next to those of the active pods. Upstream: the scheduler's noderesources
 * plugin, as the kubelet uses it: extended resources that the node does not have are ignored.
 */
import type { Pod } from "../api.ts";
import { isExtendedResource } from "../pod/resourceNames.ts";
import { podRequests } from "../resources/podResources.ts";
import { type ResourceList, addResources, resourceMilli, resourceValue } from "../resources/resourceList.ts";

/** A resource the node has too little of; cpu in thousandths, others in whole units. */
export interface InsufficientResource {
  readonly name: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** Returns an amount: cpu in thousandths, others in whole units. */
export const resourceUnits = (list: ResourceList, name: string): bigint =>
  name === "cpu" ? resourceMilli(list, name) : resourceValue(list, name);

/** Resources checked first. The first shortage becomes the reason in the pod's status. */
const FIRST = ["cpu", "memory", "ephemeral-storage"];

/** The inputs of a resource check. */
export interface ResourceFitInput {
  readonly pod: Pod;
  readonly activePods: readonly Pod[];
  readonly allocatable: ResourceList;
  readonly maxPods: number;
}

/** Returns all resources the node has too little of for this pod; empty when it fits. */
export function insufficientResources(input: ResourceFitInput): readonly InsufficientResource[] {
  const { pod, activePods, allocatable, maxPods } = input;
  const requests = podRequests(pod);
  const used = activePods.reduce<ResourceList>((sum, each) => addResources(sum, podRequests(each)), new Map());
  const podCount = BigInt(activePods.length);
  const tooMany = podCount + 1n > BigInt(maxPods);
  const pods = tooMany ? [{ name: "pods", requested: 1n, used: podCount, capacity: BigInt(maxPods) }] : [];
  const others = [...requests.keys()].filter((name) => !FIRST.includes(name) && name !== "pods");
  const served = others.filter((name) => allocatable.has(name) || !isExtendedResource(name));
  const lacking = [...FIRST, ...served].flatMap((name) => {
    const requested = resourceUnits(requests, name);
    const capacity = resourceUnits(allocatable, name);
    const taken = resourceUnits(used, name);
    return requested > 0n && requested > capacity - taken ? [{ name, requested, used: taken, capacity }] : [];
  });
  return [...pods, ...lacking];
}

/** Returns the shortage as a message of the pod's status. */
export const insufficientText = ({ name, requested, used, capacity }: InsufficientResource): string =>
  `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
