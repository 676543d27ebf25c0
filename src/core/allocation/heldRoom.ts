/**
 * Room a shrunk pod gave back that is not free yet: until its smaller size is on disk, a kubelet that starts again would
 * find the larger one. Whoever needs that room waits. Differs from upstream: there the grant itself writes the disk.
 */
import type { TakenRoom } from "../admission/roomDecision.ts";
import type { Pod } from "../api.ts";
import { formatQuantity, subtractQuantity } from "../quantity.ts";
import { podRequests } from "../resources/podResources.ts";
import { addResources, maxResources, parseResourceList, type ResourceList } from "../resources/resourceList.ts";

/** The room of a pod that stays. */
export type GrantedRoom = TakenRoom & { readonly granted: Pod; readonly held: Pod };

/** What a pod takes that holds `requests`, if any, besides its granted size. */
export const takenRoom = (granted: Pod, requests: ResourceList | undefined): GrantedRoom => ({
  granted,
  held: requests === undefined ? granted : holding(granted, requests),
});

/** What a pod takes once it is granted another size that is not on disk yet. */
export const regranted = ({ held }: TakenRoom, pod: Pod): GrantedRoom => takenRoom(pod, heldRequests(held ?? pod, pod));

/** Requests to hold when a pod that took `before` is granted the size of `after`. */
export const heldRequests = (before: Pod, after: Pod): ResourceList =>
  maxResources(podRequests(before), podRequests(after));

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
