/**
 * Delays between a threshold and an eviction, while the runtime is about to change the figures: it frees the space of
 * removed containers and images in the background, and measures writable layers every 10 s (containerd). Upstream evicts
 * a pod by the figures of the moment.
 */
import { type EpochMs, type MonotonicMs, monotonicMs } from "../ids.ts";
import type { Summary } from "../stats/summary.ts";
import type { DiskLayout, ReclaimStep } from "./nodeReclaim.ts";
import type { Observations } from "./observations.ts";
import { countsLayers, type PodRank } from "./ranking.ts";
import { amountOf, type Threshold } from "./thresholds.ts";

/** Waits for removed containers and images to free their space, or for new figures of writable layers. */
export type DelayReason = "space" | "layers";

/** A postponed eviction. */
export interface EvictionDelay {
  readonly threshold: Threshold;
  readonly reason: DelayReason;
  readonly until: MonotonicMs;
  /** Steps that freed resources of the node. */
  readonly reclaimed: readonly ReclaimStep[];
}

const LENGTH_MS: Readonly<Record<DelayReason, number>> = { space: 3_000, layers: 15_000 };
const LOOK_EVERY_MS: Readonly<Record<DelayReason, number>> = { space: 500, layers: 1_000 };
/** A look takes 10 s at most beside its own work; an older delay belongs to a pressure that is over. */
const STALE_MS = 20_000;

/** Returns a delay that starts at `now`. */
export const startDelay = (
  threshold: Threshold,
  reason: DelayReason,
  reclaimed: readonly ReclaimStep[],
  now: MonotonicMs,
): EvictionDelay => ({ threshold, reason, reclaimed, until: monotonicMs(now + LENGTH_MS[reason]) });

/** Returns the delay if it concerns this threshold. */
export const delayOf = (
  delay: EvictionDelay | undefined,
  threshold: Threshold,
  now: MonotonicMs,
): EvictionDelay | undefined => (delay?.threshold === threshold && now - delay.until < STALE_MS ? delay : undefined);

/** Returns whether the space of removed containers and images may still become free for this threshold. */
export const isSpaceAwaited = (delay: EvictionDelay | undefined, threshold: Threshold, now: MonotonicMs): boolean =>
  delay?.threshold === threshold && delay.reason === "space" && now < delay.until;

/** Returns the time until the look that may end the delay; infinite without a delay. */
export const nextDelayedLook = (delay: EvictionDelay | undefined): number =>
  delay === undefined ? Number.POSITIVE_INFINITY : LOOK_EVERY_MS[delay.reason];

/** Figures by which a pod is chosen. */
export interface RankedFigures {
  readonly ranking: readonly PodRank[];
  readonly summary: Summary;
  readonly layout: DiskLayout;
}

/**
 * Returns whether another pod may turn out to fill the disk: the known usage of the first pod would not relieve the
 * threshold, and the writable layer of a container was last measured before `crossedAt`. False for a runtime that
 * measures no layers.
 */
export function mayMisrank(
  { signal, least }: Threshold,
  observations: Observations,
  { ranking, summary, layout }: RankedFigures,
  crossedAt: EpochMs,
): boolean {
  if (!countsLayers(signal, layout)) return false;
  const seen = observations.get(signal);
  const first = ranking.find(({ isCritical }) => !isCritical);
  if (seen === undefined || first === undefined) return false;
  if (seen.available + first.usage >= amountOf(least, seen.capacity)) return false;
  return summary.pods.some(({ containers }) =>
    containers.some(({ rootfs }) => rootfs !== undefined && rootfs.time < crossedAt),
  );
}
