/** The group of a volume that outlives its pod. Upstream: SetVolumeOwnership with the change policy of the pod. */
import type { Pod } from "../api.ts";

interface Lasting {
  readonly ownership?: { readonly fsGroup: number; readonly changePolicy?: "OnRootMismatch" };
}

/** Returns the ownership from the pod's `fsGroup` and its policy for changes; empty without a group. */
export function lastingOwnership({ spec }: Pod): Lasting {
  const { fsGroup, fsGroupChangePolicy: changePolicy } = spec.securityContext ?? {};
  if (fsGroup === undefined) return {};
  return { ownership: changePolicy === "OnRootMismatch" ? { fsGroup, changePolicy } : { fsGroup } };
}
