/**
 * Devices a pod claims by Dynamic Resource Allocation. Nothing on this node prepares them yet, so a pod that claims any
 * does not start. Counterpart: PrepareDynamicResources of the container manager.
 */
import type { Pod } from "../api.ts";

/** Names of its claims, and of the one the scheduler made for its extended resources. */
export function claimedDevices({ spec, status }: Pod): readonly string[] {
  const named = (spec.resourceClaims ?? []).map(({ name }) => name);
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  return extended === undefined ? named : [...named, extended];
}

/** Why a pod with these claims waits. */
export const unpreparedDevices = (claims: readonly string[]): string =>
  "Failed to prepare dynamic resources: rxlet does not support Dynamic Resource Allocation yet, so no container starts " +
  `without the devices of ${claims.map((name) => JSON.stringify(name)).join(", ")}`;
