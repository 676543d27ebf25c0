import { expect, it } from "vitest";
import {
  AXIS_HEIGHT,
  clusterMsOf,
  clusterX,
  geometryOf,
  LANE_HEIGHT,
  laneAt,
  MARBLE_PX,
  timeAt,
  visibleLanes,
  xOf,
  yOf,
} from "../../../../src/livePage/diagram/geometry.ts";

const SIZE = { width: 1_216, height: 500, ratio: 2, scrollTop: 0 };
const STILL = { end: 100_000, spanMs: 10_000 };
const geometry = geometryOf(SIZE, STILL, 0);

it("shows the window between the labels and the right edge", () => {
  expect([geometry.gutter, geometry.start, geometry.end, geometry.pxPerMs]).toEqual([216, 90_000, 100_000, 0.1]);
  expect([xOf(geometry, 90_000), xOf(geometry, 100_000), timeAt(geometry, 716)]).toEqual([216, 1_216, 95_000]);
});
it("moves by whole device pixels", () => {
  // A device pixel is 5 ms.
  const starts = [0, 1, 4, 5, 9].map((ms) => geometryOf(SIZE, { ...STILL, end: 100_000 + ms }, 0).start - 90_000);
  expect(starts).toEqual([0, 0, 0, 5, 5]);
});
it("has narrow labels on a narrow screen", () => {
  expect(geometryOf({ ...SIZE, width: 390 }, STILL, 0).gutter).toBe(112);
});
it("finds lanes by their place, also of a scrolled diagram", () => {
  const scrolled = { ...geometry, scrollTop: 3 * LANE_HEIGHT };
  expect(laneAt(scrolled, AXIS_HEIGHT - 1)).toBeUndefined();
  expect(laneAt(scrolled, AXIS_HEIGHT)).toBe(3);
  expect(laneAt(scrolled, yOf(scrolled, 7))).toBe(7);
});
it("draws only lanes that are visible", () => {
  expect(visibleLanes(geometry, 400)).toEqual([0, 14]);
  expect(visibleLanes({ ...geometry, scrollTop: 10 * LANE_HEIGHT + 1 }, 400)).toEqual([10, 24]);
  expect(visibleLanes(geometry, 3)).toEqual([0, 3]);
});
it("keeps neighbouring clusters apart", () => {
  const widthMs = clusterMsOf(geometry);
  const border = Math.ceil(95_000 / widthMs) * widthMs;
  const left = clusterX(geometry, { from: border - 1, to: border - 1 }, widthMs);
  const right = clusterX(geometry, { from: border, to: border }, widthMs);
  expect(right - left).toBeGreaterThanOrEqual(MARBLE_PX);
  const middle = border + widthMs / 2;
  expect(clusterX(geometry, { from: middle, to: middle }, widthMs)).toBeCloseTo(xOf(geometry, middle));
});
