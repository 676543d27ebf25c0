/** Finds marbles under the pointer and for the keyboard. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Lane } from "../model/lanes.ts";
import { type Cluster, eachCluster } from "../model/marbleClusters.ts";
import { searchFrom } from "../model/slidingList.ts";
import { clusterMsOf, clusterX, type Geometry, laneAt, timeAt, SPRITE } from "./geometry.ts";

/** Marbles at a spot. */
export interface Found {
  readonly lane: Lane;
  readonly marble: LiveMarble;
  readonly count: number;
  readonly x: number;
}

/** Returns the nearest marble at a point of the canvas, the newest of a cluster; undefined when there is none. */
export function marbleAt(geometry: Geometry, lanes: readonly Lane[], x: number, y: number): Found | undefined {
  const lane = lanes[laneAt(geometry, y) ?? -1];
  if (lane === undefined || x < geometry.gutter) return undefined;
  const widthMs = clusterMsOf(geometry);
  const at = timeAt(geometry, x);
  const cluster: Cluster = { marble: { id: 0, at: 0, place: "", text: "" }, count: 0, from: 0, to: 0, begunAt: 0 };
  let best: Found | undefined;
  eachCluster(lane.marbles, { start: at - 2 * widthMs, end: at + 2 * widthMs, widthMs }, cluster, (found) => {
    const middle = clusterX(geometry, found, widthMs);
    const distance = Math.abs(middle - x);
    // The newest lies on top.
    if (distance > SPRITE || (best !== undefined && Math.abs(best.x - x) < distance)) return;
    best = { lane, marble: found.marble, count: found.count, x: middle };
  });
  return best;
}

/** Returns the marble that is `step` before or after `id` in the lane; the nearest to `at` when the lane lacks it. */
export function marbleBeside(lane: Lane, id: number | undefined, at: number, step: number): LiveMarble | undefined {
  const { items, first } = lane.marbles;
  const known = id === undefined ? items.length : searchFrom(lane.marbles, (marble) => marble.id >= id);
  if (id === undefined || items[known]?.id !== id) return nearest(lane, at);
  return items[Math.min(items.length - 1, Math.max(first, known + step))];
}

/** Returns the marble of the lane whose instant is the nearest to `at`. */
export function nearest({ marbles }: Lane, at: number): LiveMarble | undefined {
  const after = searchFrom(marbles, (marble) => marble.at >= at);
  const next = marbles.items[after];
  const last = after > marbles.first ? marbles.items[after - 1] : undefined;
  if (next === undefined || last === undefined) return next ?? last;
  return next.at - at < at - last.at ? next : last;
}
