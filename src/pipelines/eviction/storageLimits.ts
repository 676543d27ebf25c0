/** Pods that exceed their limits of local storage at one measurement. Upstream: localStorageEviction. */
import { type Eviction, evictedEvent, IMMEDIATE_EVICTION_GRACE_SECONDS } from "../../core/eviction/evicted.ts";
import { hasStorageLimits, storageViolation } from "../../core/eviction/localStorage.ts";
import type { PodUsage } from "../../core/eviction/chooseVictim.ts";
import type { Pod } from "../../core/api.ts";
import type { PodRecord, Registry } from "../../core/pod/podRegistry.ts";
import type { KubeletEvent } from "../../core/events.ts";

/** A pod beyond a limit of its own. */
export interface LimitEviction {
  readonly pod: Pod;
  /** Label of `kubelet_evictions`. */
  readonly signal: string;
  readonly eviction: Eviction;
  readonly event: KubeletEvent;
}

const isLimited = ({ state, pod }: PodRecord): boolean =>
  state === "syncing" && pod !== undefined && hasStorageLimits(pod);

/** Returns whether any pod can exceed a limit. */
export function isAnyLimited({ records }: Registry): boolean {
  for (const record of records.values()) if (isLimited(record)) return true;
  return false;
}

/** Returns the pods to evict. */
export function limitEvictions({ registry, summary, layout }: PodUsage): readonly LimitEviction[] {
  const byUid = new Map(summary.pods.map((stats) => [stats.podRef.uid, stats]));
  return [...registry.records.values()].filter(isLimited).flatMap(({ identity: { uid }, pod }) => {
    const stats = byUid.get(uid);
    const violation = stats && pod && storageViolation(pod, stats, layout.hasImageFs);
    if (pod === undefined || violation === undefined) return [];
    const { signal, message } = violation;
    const graceSeconds = IMMEDIATE_EVICTION_GRACE_SECONDS;
    return [
      { pod, signal, eviction: { uid, message, graceSeconds, isDisrupted: false }, event: evictedEvent(pod, message) },
    ];
  });
}
