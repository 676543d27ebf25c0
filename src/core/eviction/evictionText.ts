/** The figures behind pressure and evictions, for the log and for the timeline of a pod. */
import { formatQuantity, quantityOf } from "../quantity.ts";
import { type ThresholdFigures, thresholdFigures } from "./evictionMessage.ts";
import type { Observations } from "./observations.ts";
import { exceedsRequest, type PodRank } from "./ranking.ts";
import { resourceOf, type Signal, type Threshold } from "./thresholds.ts";

/** Place of a pod among all ranked pods. */
export interface Place {
  readonly place: number;
  readonly of: number;
}

/**
 * Returns a text such as `memory.available was 90Mi, less than 100Mi; place 1 of 14: uses 50Mi, more than the requested
 * 10Mi; priority 0`.
 */
export function rankingText(
  signal: Signal,
  figures: ThresholdFigures | undefined,
  rank: PodRank,
  { place, of }: Place,
): string {
  const seen = figures === undefined ? "is low" : `was ${figures.available}, less than ${figures.threshold}`;
  return `${signal} ${seen}; place ${place} of ${of}: ${usageText(signal, rank)}; priority ${rank.priority}`;
}

function usageText(signal: Signal, rank: PodRank): string {
  if (!rank.isMeasured) return "has no figures of its usage";
  const resource = resourceOf(signal);
  if (resource === "pids" || resource === "inodes") return `uses ${rank.usage} ${resource}`;
  const text = (units: number): string => formatQuantity(quantityOf(Math.ceil(units), "BinarySI"));
  return `uses ${text(rank.usage)}, ${exceedsRequest(rank) ? "more" : "no more"} than the requested ${text(rank.request)}`;
}

/**
 * Returns the figures of the met thresholds by signal, for the log: `90Mi available, threshold 100Mi`. `met` begins with
 * the most urgent one, which stands for its signal.
 */
export function metFigures(met: readonly Threshold[], observations: Observations): Readonly<Record<string, string>> {
  return Object.fromEntries(
    met.toReversed().flatMap((threshold) => {
      const figures = thresholdFigures(threshold, observations);
      if (figures === undefined) return [];
      return [[threshold.signal, `${figures.available} available, threshold ${figures.threshold}`]];
    }),
  );
}
