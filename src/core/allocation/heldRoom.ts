/**
 * Room a shrunk pod gave back that is not free yet: until its smaller size is on disk, a kubelet that starts again would
 * find the larger one. Whoever needs that room waits. Differs from upstream: there the grant itself writes the disk.
 */
import type { AdmissionResult } from "../admission/admit.ts";
import type { Pod } from "../api.ts";
import { formatQuantity, subtractQuantity } from "../quantity.ts";
import { podRequests } from "../resources/podResources.ts";
import { addResources, maxResources, parseResourceList, type ResourceList } from "../resources/resourceList.ts";

/** What a pod takes of the node. */
export interface TakenRoom {
  /** The pod at the size it is granted. */
  readonly granted: Pod;
  /** The same, or larger by what it still holds. */
  readonly held: Pod;
}

/** What a pod takes that holds `requests`, if any, besides its granted size. */
export const takenRoom = (granted: Pod, requests: ResourceList | undefined): TakenRoom => ({
  granted,
  held: requests === undefined ? granted : holding(granted, requests),
});

/** What a pod takes once it is granted another size that is not on disk yet. */
export const regranted = ({ held }: TakenRoom, pod: Pod): TakenRoom => takenRoom(pod, heldRequests(held, pod));

/** Requests to hold when a pod that took `before` is granted the size of `after`. */
export const heldRequests = (before: Pod, after: Pod): ResourceList =>
  maxResources(podRequests(before), podRequests(after));

/** What admission says beside what is granted to others; undefined as long as it needs room that is still held. */
export function admitBeside(
  pod: Pod,
  others: readonly TakenRoom[],
  admit: (pod: Pod, others: readonly Pod[]) => AdmissionResult,
): AdmissionResult | undefined {
  const verdict = admit(
    pod,
    others.map(({ granted }) => granted),
  );
  if (!verdict.admitted || others.every(({ granted, held }) => granted === held)) return verdict;
  const later = admit(
    pod,
    others.map(({ held }) => held),
  );
  return later.admitted && later.preempt.length === verdict.preempt.length ? verdict : undefined;
}

/** The pod with so much more overhead that it requests at least that; nothing else of it is another. */
function holding(pod: Pod, requests: ResourceList): Pod {
  const own = podRequests(pod);
  const missing: ResourceList = new Map(
    [...maxResources(own, requests)].map(([name, amount]) => {
      const known = own.get(name);
      return [name, known === undefined ? amount : subtractQuantity(amount, known)];
    }),
  );
  const overhead = addResources(parseResourceList(pod.spec.overhead), missing);
  const amounts = Object.fromEntries([...overhead].map(([name, amount]) => [name, formatQuantity(amount)]));
  return { ...pod, spec: { ...pod.spec, overhead: amounts } };
}
