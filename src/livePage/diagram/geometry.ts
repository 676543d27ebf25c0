/** Places on the canvas: what is where, for drawing and for the pointer. */
import { type Cluster, clusterMs } from "../model/marbleClusters.ts";
import { endOf, type TimeWindow } from "../model/timeWindow.ts";

/** Radius of a marble in pixels. */
export const RADIUS = 8;
/** Half the side of the picture of a marble. */
export const SPRITE = 12;
export const AXIS_HEIGHT = 26;
export const LANE_HEIGHT = 34;
const WIDE_GUTTER = 216;
const NARROW_GUTTER = 112;
const NARROW = 640;

/** A frame's measures in CSS pixels and milliseconds since the epoch. */
export interface Geometry {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
  readonly gutter: number;
  readonly scrollTop: number;
  readonly start: number;
  readonly end: number;
  readonly pxPerMs: number;
}

/** Returns the measures of a canvas at `now`. The start lies on a device pixel, so that marbles move by whole pixels. */
export function geometryOf(
  size: Pick<Geometry, "width" | "height" | "ratio" | "scrollTop">,
  window: TimeWindow,
  now: number,
): Geometry {
  const gutter = size.width < NARROW ? NARROW_GUTTER : WIDE_GUTTER;
  const pxPerMs = Math.max(1, size.width - gutter) / window.spanMs;
  const perPixel = 1 / (pxPerMs * size.ratio);
  const start = Math.floor((endOf(window, now) - window.spanMs) / perPixel) * perPixel;
  return { ...size, gutter, pxPerMs, start, end: start + window.spanMs };
}

export const xOf = ({ gutter, start, pxPerMs }: Geometry, at: number): number => gutter + (at - start) * pxPerMs;

export const timeAt = ({ gutter, start, pxPerMs }: Geometry, x: number): number => start + (x - gutter) / pxPerMs;

/** Least distance of clusters in pixels. */
export const MARBLE_PX = 15;

/** Returns where a cluster is drawn: far enough from the edges of its stretch not to lie on its neighbours. */
export function clusterX(geometry: Geometry, { from, to }: Pick<Cluster, "from" | "to">, widthMs: number): number {
  const left = xOf(geometry, Math.floor(from / widthMs) * widthMs);
  const right = left + widthMs * geometry.pxPerMs;
  return Math.min(right - MARBLE_PX / 2, Math.max(left + MARBLE_PX / 2, xOf(geometry, (from + to) / 2)));
}

/** Width of the clusters in milliseconds. */
export const clusterMsOf = ({ start, end, width, gutter }: Geometry): number =>
  clusterMs(end - start, width - gutter, MARBLE_PX);

/** Middle of a lane. */
export const yOf = ({ scrollTop }: Geometry, lane: number): number =>
  AXIS_HEIGHT + lane * LANE_HEIGHT + LANE_HEIGHT / 2 - scrollTop;

/** Index of the lane at `y`; undefined above the lanes. */
export const laneAt = ({ scrollTop }: Geometry, y: number): number | undefined =>
  y < AXIS_HEIGHT ? undefined : Math.floor((y - AXIS_HEIGHT + scrollTop) / LANE_HEIGHT);

/** Indices of the lanes that are visible, the second exclusive. */
export const visibleLanes = (
  { scrollTop, height }: Pick<Geometry, "scrollTop" | "height">,
  count: number,
): readonly [number, number] => [
  Math.max(0, Math.floor(scrollTop / LANE_HEIGHT)),
  Math.min(count, Math.ceil((scrollTop + height - AXIS_HEIGHT) / LANE_HEIGHT)),
];
