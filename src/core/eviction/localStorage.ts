/**
 * Decides which pods exceed their limits of local storage. Upstream: localStorageEviction of pkg/kubelet/eviction.
 * Differs from upstream: the kernel alone enforces the size of a memory-backed emptyDir.
 */
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { perObject } from "../perObject.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { compareQuantity, formatQuantity, parseQuantity, type Quantity, quantityOf } from "../quantity.ts";
import { parseResourceList, type ResourceList } from "../resources/resourceList.ts";
import { podLimits } from "../resources/podResources.ts";
import type { FsStats, PodStats } from "../stats/summary.ts";
import { findNamed } from "../findNamed.ts";

/** A limit that a pod exceeds. */
export interface StorageViolation {
  /** Label of `kubelet_evictions`. */
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  /** Upstream's text, including the blank at its end. */
  readonly message: string;
}

interface StorageLimits {
  /** Keys: volume names, in spec order. */
  readonly emptyDirs: ReadonlyMap<string, Quantity>;
  readonly pod: Quantity | undefined;
  /** Keys: container names. */
  readonly containers: ReadonlyMap<string, Quantity>;
}

const RESOURCE = "ephemeral-storage";

const limitsOf = perObject((spec: Pod["spec"]): StorageLimits | undefined => {
  const emptyDirs = new Map<string, Quantity>();
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const limit = parseQuantity(emptyDir?.sizeLimit ?? "0");
    if (limit !== undefined && limit.nano > 0n && emptyDir?.medium !== "Memory") emptyDirs.set(name, limit);
  }
  const containers = new Map<string, Quantity>();
  for (const { name, resources } of spec.containers) {
    const limit = limitIn(parseResourceList(resources?.limits));
    if (limit !== undefined && limit.nano !== 0n) containers.set(name, limit);
  }
  const pod = limitIn(podLimits({ spec }));
  return emptyDirs.size === 0 && containers.size === 0 && pod === undefined
    ? undefined
    : { emptyDirs, pod, containers };
});

const limitIn = (limits: ResourceList): Quantity | undefined => limits.get(RESOURCE);

/** Returns whether the pod can exceed a limit; a critical pod is never evicted. */
export const hasStorageLimits = (pod: Pod): boolean => !isCriticalPod(pod) && limitsOf(pod.spec) !== undefined;

const exceeds = (usedBytes: number, limit: Quantity): boolean => compareQuantity(quantityOf(usedBytes), limit) > 0;
const bytesOf = (fs: FsStats | undefined): number => fs?.usedBytes ?? 0;

/**
 * Returns the first limit the pod exceeds; undefined when it exceeds none. `hasImageFs`: writable layers of containers
 * are not on the kubelet's file system and count only toward the pod's limit.
 */
export function storageViolation(pod: Pod, stats: PodStats, hasImageFs: boolean): StorageViolation | undefined {
  const limits = limitsOf(pod.spec);
  if (limits === undefined) return undefined;
  for (const [name, limit] of limits.emptyDirs) {
    const volume = findNamed(stats.volume, name);
    if (!exceeds(bytesOf(volume), limit)) continue;
    const text = `Usage of EmptyDir volume ${goQuote(name)} exceeds the limit ${goQuote(formatQuantity(limit))}. `;
    return { signal: "emptydirfs.limit", message: text };
  }
  if (limits.pod !== undefined && exceeds(bytesOf(stats["ephemeral-storage"]), limits.pod)) {
    const limit = formatQuantity(limits.pod);
    const text = `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
    return { signal: "ephemeralpodfs.limit", message: text };
  }
  for (const { name, logs, rootfs } of stats.containers) {
    const limit = limits.containers.get(name);
    if (limit === undefined || !exceeds(bytesOf(logs) + (hasImageFs ? 0 : bytesOf(rootfs)), limit)) continue;
    const text = `Container ${name} exceeded its local ephemeral storage limit ${goQuote(formatQuantity(limit))}. `;
    return { signal: "ephemeralcontainerfs.limit", message: text };
  }
  return undefined;
}
