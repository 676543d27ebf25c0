/**
 * Chooses what is removed for an eviction signal before a pod is evicted: dead containers, unused images. Upstream: buildSignalToNodeReclaimFuncs of
 * pkg/kubelet/eviction.
 */
import type { Signal } from "./thresholds.ts";

/** Where images and the writable layers of containers are. */
export interface DiskLayout {
  /** Images are on another device than the kubelet's root directory. */
  readonly hasImageFs: boolean;
  /** Writable layers are on another file system than images. */
  readonly isSplit: boolean;
}

/** Removal of exited containers, or of images that no container uses. */
export type ReclaimStep = "containers" | "images";

const BOTH: readonly ReclaimStep[] = ["containers", "images"];

/** Returns the steps in order; none for a resource that only pods use. */
export function reclaimSteps(signal: Signal, { hasImageFs, isSplit }: DiskLayout): readonly ReclaimStep[] {
  const fileSystem = diskOf(signal);
  if (fileSystem === undefined) return [];
  if (!hasImageFs) return BOTH;
  const ofImages = fileSystem === "imagefs";
  if (isSplit) return ofImages ? ["images"] : ["containers"];
  return fileSystem === "nodefs" ? [] : BOTH;
}

/** Returns the file system of a signal; undefined for memory and process IDs. */
export const diskOf = (signal: Signal): "nodefs" | "imagefs" | "containerfs" | undefined =>
  DISKS.find((disk) => signal.startsWith(`${disk}.`));

const DISKS = ["nodefs", "imagefs", "containerfs"] as const;
