/**
 * Layout of a lane's marbles for a stretch of time. Marbles that would lie on each other form a cluster. Clusters are
 * aligned to fixed instants, so that they do not change while time runs.
 */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Lane } from "./lanes.ts";
import { searchFrom } from "./slidingList.ts";

/** Marbles at one spot. The visitor gets the same object each time: a frame allocates none. */
export interface Cluster {
  /** The newest of the worst outcome. */
  marble: LiveMarble;
  count: number;
  /** Instants of the first and the last marble, and the start of the longest step. */
  from: number;
  to: number;
  begunAt: number;
}

const RANKS = { failed: 3, "cut off": 2, warning: 1 } as const;
const rankOf = ({ outcome }: LiveMarble): number => (outcome === undefined ? 0 : RANKS[outcome]);

/** Width of a cluster in milliseconds: a round number, so that it does not depend on every pixel of the zoom. */
export function clusterMs(spanMs: number, widthPx: number, marblePx: number): number {
  const least = (spanMs / Math.max(1, widthPx)) * marblePx;
  return 2 ** Math.ceil(Math.log2(Math.max(1, least)));
}

/** Steps that end after the stretch are looked for among this many marbles after it. */
const BEYOND = 16;

/**
 * Visits the clusters of a lane between `start` and `end`, oldest first. Marbles are ordered by `at`, the end of a step.
 */
export function eachCluster(
  marbles: Lane["marbles"],
  { start, end, widthMs }: { readonly start: number; readonly end: number; readonly widthMs: number },
  cluster: Cluster,
  visit: (cluster: Cluster) => void,
): void {
  const { items } = marbles;
  // Aligned to whole clusters, so that the marbles of one at the edge are counted in full.
  const from = Math.floor(start / widthMs) * widthMs;
  let bucket = Number.NaN;
  let beyond = 0;
  cluster.count = 0;
  for (let index = searchFrom(marbles, ({ at }) => at >= from); index < items.length; index += 1) {
    const marble = items[index] as LiveMarble;
    const begunAt = marble.at - (marble.tookMs ?? 0);
    if (marble.at > end + widthMs) {
      beyond += 1;
      if (beyond > BEYOND) break;
      if (begunAt > end) continue;
    }
    const own = Math.floor(marble.at / widthMs);
    if (own !== bucket) {
      if (cluster.count > 0) visit(cluster);
      bucket = own;
      cluster.count = 0;
    }
    if (cluster.count === 0) {
      cluster.from = marble.at;
      cluster.begunAt = begunAt;
      cluster.marble = marble;
    } else {
      if (begunAt < cluster.begunAt) cluster.begunAt = begunAt;
      if (rankOf(marble) >= rankOf(cluster.marble)) cluster.marble = marble;
    }
    cluster.to = marble.at;
    cluster.count += 1;
  }
  if (cluster.count > 0) visit(cluster);
}
