/** Chooses the pod to evict at a threshold. Upstream: the second half of synchronize in pkg/kubelet/eviction. */
import type { Pod } from "../api.ts";
import { sizeOf } from "../pod/podRecord.ts";
import type { PodRecord, Registry } from "../pod/podRegistryTypes.ts";
import type { PodStats, Summary } from "../stats/summary.ts";
import { type Eviction, evictionGraceSeconds } from "./evicted.ts";
import { type EvictionMessage, evictionMessage, thresholdFigures } from "./evictionMessage.ts";
import { rankingText } from "./evictionText.ts";
import type { DiskLayout } from "./nodeReclaim.ts";
import type { Observations } from "./observations.ts";
import { type PodRank, rankPods } from "./ranking.ts";
import { resourceOf, type Signal, type Threshold } from "./thresholds.ts";

/** The pods of the node and what they use, at one time. */
export interface PodUsage {
  readonly registry: Registry;
  readonly summary: Summary;
  readonly layout: DiskLayout;
}

/** The pod to evict, and how. */
export interface Victim extends Pick<EvictionMessage, "annotations"> {
  readonly pod: Pod;
  readonly eviction: Eviction;
  /** The figures that led to the choice, for people. */
  readonly why: string;
}

/** Returns the order in which the pods that still run would be evicted for a signal. */
export const rankingFor = (signal: Signal, { registry, summary, layout }: PodUsage): readonly PodRank[] =>
  rankPods(
    signal,
    [...registry.records.values()].flatMap((record) => (isActive(record) ? (sizeOf(record) ?? []) : [])),
    statsByUid(summary),
    layout,
  );

/**
 * Returns the first pod in `ranking` that may be evicted; undefined when there is none. A pod that is stopping already
 * is a candidate only if the eviction shortens its grace period. Differs from upstream, which evicts a pod that is slow
 * to stop again and again, and no other pod meanwhile.
 */
export function chooseVictim(
  threshold: Threshold,
  ranking: readonly PodRank[],
  observations: Observations,
  { registry, summary }: PodUsage,
  maxGraceSeconds: number,
): Victim | undefined {
  for (const [index, rank] of ranking.entries()) {
    const record = registry.records.get(rank.uid);
    const pod = record && sizeOf(record);
    if (record === undefined || pod === undefined || rank.isCritical) continue;
    const graceSeconds = evictionGraceSeconds(threshold, pod, maxGraceSeconds);
    if (!endsSooner(record, graceSeconds)) continue;
    const resource = resourceOf(threshold.signal);
    const figures = thresholdFigures(threshold, observations);
    const stats = statsByUid(summary).get(rank.uid);
    const { message, annotations } = evictionMessage(resource, pod, stats, figures);
    return {
      pod,
      annotations,
      eviction: { uid: rank.uid, message, graceSeconds, isDisrupted: true },
      why: rankingText(threshold.signal, figures, rank, { place: index + 1, of: ranking.length }),
    };
  }
  return undefined;
}

const isActive = ({ state }: PodRecord): boolean => state === "syncing" || state === "terminating";

const endsSooner = ({ state, graceSeconds }: PodRecord, seconds: number): boolean =>
  state === "syncing" || (state === "terminating" && graceSeconds !== undefined && graceSeconds > Math.max(1, seconds));

const statsByUid = ({ pods }: Summary): ReadonlyMap<string, PodStats> =>
  new Map(pods.map((stats) => [stats.podRef.uid, stats]));
