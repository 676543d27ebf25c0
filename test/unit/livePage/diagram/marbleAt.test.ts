import { describe, expect, it } from "vitest";
import type { LiveMarble } from "../../../../src/core/live/liveMessages.ts";
import { geometryOf, xOf, yOf } from "../../../../src/livePage/diagram/geometry.ts";
import { marbleAt, marbleBeside, nearest } from "../../../../src/livePage/diagram/marbleAt.ts";
import type { Lane } from "../../../../src/livePage/model/lanes.ts";

const laneOf = (key: string, times: readonly number[]): Lane => {
  const items = times.map((at): LiveMarble => ({ id: at, at, place: "p", text: `${key} ${at}` }));
  return { key, label: key, marbles: { items, first: 0, size: items.length } };
};
const LANES = [laneOf("a", [91_000, 95_000, 95_001]), laneOf("b", [92_000]), laneOf("empty", [])];
const geometry = geometryOf({ width: 1_216, height: 500, ratio: 1, scrollTop: 0 }, { end: 100_000, spanMs: 10_000 }, 0);
const found = (at: number, lane: number): string | undefined => {
  const hit = marbleAt(geometry, LANES, xOf(geometry, at), yOf(geometry, lane));
  return hit && `${hit.marble.text} of ${hit.count}`;
};

describe("marbleAt", () => {
  it("finds the marble under the pointer, and the number of those at its spot", () => {
    expect([found(91_000, 0), found(91_100, 0), found(95_000, 0), found(92_000, 1)]).toEqual([
      "a 91000 of 1",
      "a 91000 of 1",
      "a 95001 of 2",
      "b 92000 of 1",
    ]);
  });
  it("finds nothing beside marbles, in the labels, and below the lanes", () => {
    expect([found(93_000, 0), found(91_000, 1), found(91_000, 2), found(91_000, 9), found(89_000, 0)]).toEqual(
      Array.from({ length: 5 }),
    );
  });
});

describe("marbleBeside", () => {
  const [lane] = LANES as [Lane];
  it("steps through a lane and stays at its ends", () => {
    expect(marbleBeside(lane, 95_000, 0, -1)?.id).toBe(91_000);
    expect(marbleBeside(lane, 91_000, 0, -1)?.id).toBe(91_000);
    expect(marbleBeside(lane, 95_001, 0, 1)?.id).toBe(95_001);
  });
  it("starts at the nearest marble when the lane lacks the current one", () => {
    expect(marbleBeside(lane, undefined, 92_000, 1)?.id).toBe(91_000);
    expect(marbleBeside(lane, 94_000, 94_000, 1)?.id).toBe(95_000);
  });
});

describe("nearest", () => {
  it.each([
    [0, 91_000],
    [92_999, 91_000],
    [93_001, 95_000],
    [999_999, 95_001],
  ])("of %d is the marble at %d", (at, id) => {
    expect(nearest(LANES[0] as Lane, at)?.id).toBe(id);
  });
  it("is none in an empty lane", () => {
    expect(nearest(LANES[2] as Lane, 5)).toBeUndefined();
  });
});
