/**
 * Resources that a shrunk pod released but that are not free yet: until the smaller size is checkpointed, a restarted
 * kubelet would restore the larger one. Pods that need these resources wait. Differs from upstream: upstream writes the
 * checkpoint during allocation.
 */
import type { TakenResources } from "../admission/resourceDecision.ts";
import type { Pod } from "../api.ts";
import { subtractQuantity } from "../quantity.ts";
import { podRequests } from "../resources/podResources.ts";
import {
  addResources,
  maxResources,
  parseResourceList,
  resourceAmounts,
  type ResourceList,
} from "../resources/resourceList.ts";

/** The resources of a pod that keeps running. */
export type GrantedResources = TakenResources & { readonly granted: Pod; readonly held: Pod };

/** Returns the resources of a pod that still holds `requests`, if any, besides its allocated size. */
export const takenResources = (granted: Pod, requests: ResourceList | undefined): GrantedResources => ({
  granted,
  held: requests === undefined ? granted : holding(granted, requests),
});

/** Returns the resources of a pod whose new allocation is not checkpointed yet. */
export const regranted = ({ held }: TakenResources, pod: Pod): GrantedResources =>
  takenResources(pod, heldRequests(held ?? pod, pod));

/** Returns the requests to hold when a pod's allocation changes from the size of `before` to that of `after`. */
export const heldRequests = (before: Pod, after: Pod): ResourceList =>
  maxResources(podRequests(before), podRequests(after));

/** Returns the pod with enough overhead to request at least these amounts, and no other change. */
function holding(pod: Pod, requests: ResourceList): Pod {
  const own = podRequests(pod);
  const missing: ResourceList = new Map(
    [...maxResources(own, requests)].map(([name, amount]) => {
      const known = own.get(name);
      return [name, known === undefined ? amount : subtractQuantity(amount, known)];
    }),
  );
  const overhead = addResources(parseResourceList(pod.spec.overhead), missing);
  return { ...pod, spec: { ...pod.spec, overhead: resourceAmounts(overhead) } };
}
