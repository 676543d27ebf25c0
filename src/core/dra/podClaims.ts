/**
 * Names of the ResourceClaims of a pod: named in its spec, made for it from a template, or made by the scheduler for its
 * extended resources. Upstream: Name of k8s.io/dynamic-resource-allocation/resourceclaim.
 */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** A claim of a pod. */
export interface PodClaim {
  /** Name in `spec.resourceClaims`; undefined for the claim of the extended resources. */
  readonly entry: string | undefined;
  /** Name of the ResourceClaim, in the namespace of the pod. */
  readonly claimName: string;
  /** The claim was made for the pod and must be owned by it, or another client made one of that name. */
  readonly mustBeOwned: boolean;
}

type SpecClaim = NonNullable<Pod["spec"]["resourceClaims"]>[number];

/** Returns whether the pod names any claim, even one that does not exist yet. */
export const hasClaims = ({ spec, status }: Pod): boolean =>
  (spec.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined;

/**
 * Returns the claim of an entry of the spec; undefined if it was decided that the entry needs none. Errors: NotFound
 * while the claim of a template does not exist.
 */
function claimOfEntry({ metadata, status }: Pod, entry: SpecClaim): Result<PodClaim | undefined> {
  const { name, resourceClaimName, resourceClaimTemplateName } = entry;
  const pod = `pod "${metadata.namespace}/${metadata.name}"`;
  if (resourceClaimName !== undefined) {
    return ok({ entry: name, claimName: resourceClaimName, mustBeOwned: false });
  }
  if (resourceClaimTemplateName === undefined) {
    const message = `${pod}, spec.resourceClaim "${name}": none of the supported fields are set`;
    return err(kubeletError("InvalidArgument", message));
  }
  const made = status?.resourceClaimStatuses?.find((each) => each.name === name);
  if (made === undefined) return err(kubeletError("NotFound", `${pod}: ResourceClaim not created yet`));
  const { resourceClaimName: claimName } = made;
  return ok(claimName === undefined ? undefined : { entry: name, claimName, mustBeOwned: true });
}

/** Returns the claims of the pod, those of its spec first. */
export function podClaims(pod: Pod, withExtendedResources: boolean): Result<readonly PodClaim[]> {
  const claims: PodClaim[] = [];
  for (const entry of pod.spec.resourceClaims ?? []) {
    const claim = claimOfEntry(pod, entry);
    if (!claim.ok) return claim;
    if (claim.value !== undefined) claims.push(claim.value);
  }
  const claimName = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (withExtendedResources && claimName !== undefined) {
    claims.push({ entry: undefined, claimName, mustBeOwned: false });
  }
  return ok(claims);
}
