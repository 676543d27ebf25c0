/**
 * How the kubelet's own directory comes to be on a shared mount. Only from one do mounts spread into containers that
 * ask for propagation, and out of them. Counterpart: DoMakeRShared of pkg/volume/util/hostutil.
 */
import { type MountEntry, mountedAtOrBelow, mountHolding } from "./mountInfo.ts";

/** `isInUse`: what is mounted below would be hidden by a bind, so all stays as it is. */
export type RootSharing = "isShared" | "makeShared" | "bindToItself" | "isInUse";

/** Decides; `directory` has no links in it. */
export function rootSharing(entries: readonly MountEntry[], directory: string): RootSharing {
  const holder = mountHolding(entries, directory);
  if (holder?.propagation.sharedWith !== undefined) return "isShared";
  if (holder?.mountPoint === directory) return "makeShared";
  return mountedAtOrBelow(entries, directory) === undefined ? "bindToItself" : "isInUse";
}
