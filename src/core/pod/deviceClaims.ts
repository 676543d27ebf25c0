/**
 * Devices that a pod claims through Dynamic Resource Allocation. The kubelet cannot prepare them yet, so a pod with
 * claims does not start. Upstream: PrepareDynamicResources of the container manager.
 */
import type { Pod } from "../api.ts";

/** Names of the pod's claims, including the claim that the scheduler created for its extended resources. */
export function claimedDevices({ spec, status }: Pod): readonly string[] {
  const named = (spec.resourceClaims ?? []).map(({ name }) => name);
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  return extended === undefined ? named : [...named, extended];
}

/** Returns the message of a pod that waits because of these claims. */
export const unpreparedDevices = (claims: readonly string[]): string =>
  "Failed to prepare dynamic resources: rxlet does not support Dynamic Resource Allocation yet, so no container starts " +
  `without the devices of ${claims.map((name) => JSON.stringify(name)).join(", ")}`;
