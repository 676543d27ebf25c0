/**
 * Decides how the kubelet's root directory gets on a shared mount, which mount propagation into and out of containers
 * requires. Upstream: DoMakeRShared of pkg/volume/util/hostutil.
 */
import { type MountEntry, mountedAtOrBelow, mountHolding } from "./mountInfo.ts";

/** `isInUse`: a bind mount would hide mounts below, so nothing is changed. */
export type RootSharing = "isShared" | "makeShared" | "bindToItself" | "isInUse";

/** Returns the action; `directory` contains no links. */
export function rootSharing(entries: readonly MountEntry[], directory: string): RootSharing {
  const holder = mountHolding(entries, directory);
  if (holder?.propagation.sharedWith !== undefined) return "isShared";
  if (holder?.mountPoint === directory) return "makeShared";
  return mountedAtOrBelow(entries, directory) === undefined ? "bindToItself" : "isInUse";
}
