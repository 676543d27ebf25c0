/** Each letter is an observation, 10 s apart: the available amount, and the resulting pressure. */
import { describe, expect, it } from "vitest";
import {
  nextPressure,
  noPressureSeen,
  type PressureState,
  pressuresOf,
} from "../../../../src/core/eviction/nodePressure.ts";
import type { Observations } from "../../../../src/core/eviction/observations.ts";
import type { Signal, Threshold } from "../../../../src/core/eviction/thresholds.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";

const LOOK_MS = 10_000;
const threshold = (signal: Signal, least: number, more: Partial<Threshold> = {}): Threshold => ({
  signal,
  least: { units: least },
  graceMs: 0,
  reclaim: undefined,
  ...more,
});
const left = (signal: Signal, available: number | undefined): Observations =>
  new Map(available === undefined ? [] : [[signal, { available, capacity: 1_000 }]]);

/** Pressures after each look, as `m`, `d`, `p` and `-`. */
function looks(
  thresholds: readonly Threshold[],
  observed: readonly Observations[],
  transitionMs: number,
): readonly string[] {
  let state: PressureState = noPressureSeen;
  return observed.map((observations, index) => {
    const now = monotonicMs(index * LOOK_MS);
    state = nextPressure(state, thresholds, observations, now);
    const { memory, disk, pid } = pressuresOf(state, transitionMs, now);
    return `${memory ? "m" : ""}${disk ? "d" : ""}${pid ? "p" : ""}` || "-";
  });
}

describe("pressure", () => {
  type Row = readonly [
    rule: string,
    threshold: Threshold,
    left: readonly (number | undefined)[],
    pressure: readonly string[],
  ];
  const MEMORY = "memory.available";
  it.each<Row>([
    ["begins below the threshold, not at it", threshold(MEMORY, 100), [101, 100, 99], ["-", "-", "m"]],
    ["ends once it was not met for the period", threshold(MEMORY, 100), [99, 100, 100, 100], ["m", "m", "-", "-"]],
    [
      "continues while the threshold is met at times",
      threshold(MEMORY, 100),
      [99, 100, 99, 100, 100],
      ["m", "m", "m", "m", "-"],
    ],
    ["uses shares of the capacity", threshold(MEMORY, 0, { least: { share: 0.1 } }), [100, 99], ["-", "m"]],
    [
      "is absent without a measurement",
      threshold(MEMORY, 100),
      [undefined, 99, undefined, undefined],
      ["-", "m", "m", "-"],
    ],
    [
      "is reported before the grace period has passed",
      threshold(MEMORY, 100, { graceMs: 60_000 }),
      [99, 100, 100],
      ["m", "m", "-"],
    ],
    [
      "is not over before so much more is left",
      threshold(MEMORY, 100, { reclaim: { units: 50 } }),
      [120, 99, 149, 150, 150],
      ["-", "m", "m", "m", "-"],
    ],
    [
      "need not have so much more left when it was over before its grace was",
      threshold(MEMORY, 100, { graceMs: 20_000, reclaim: { units: 50 } }),
      [99, 99, 120, 120],
      ["m", "m", "m", "-"],
    ],
    [
      "has to have so much more left once its grace was over",
      threshold(MEMORY, 100, { graceMs: 10_000, reclaim: { share: 0.05 } }),
      [99, 99, 120, 120, 150, 150],
      ["m", "m", "m", "m", "m", "-"],
    ],
  ])("%s", (_, each, observed, pressure) => {
    const observations = observed.map((available) => left(each.signal, available));
    expect(looks([each], observations, 2 * LOOK_MS)).toEqual(pressure);
  });

  it.each<[Signal, string]>([
    ["memory.available", "m"],
    ["allocatableMemory.available", "m"],
    ["nodefs.available", "d"],
    ["nodefs.inodesFree", "d"],
    ["imagefs.available", "d"],
    ["imagefs.inodesFree", "d"],
    ["pid.available", "p"],
  ])("of %s is %s", (signal, pressure) => {
    expect(looks([threshold(signal, 10)], [left(signal, 9)], LOOK_MS)).toEqual([pressure]);
  });

  it("ends for each kind separately", () => {
    const both: Observations = new Map([...left("pid.available", 1), ...left("nodefs.available", 1)]);
    const thresholds = [threshold("pid.available", 10), threshold("nodefs.available", 10)];
    expect(looks(thresholds, [both, left("pid.available", 1), left("pid.available", 1)], 2 * LOOK_MS)).toEqual([
      "dp",
      "dp",
      "p",
    ]);
  });

  it("keeps the same state while no threshold is met", () => {
    const state = nextPressure(noPressureSeen, [threshold(MEMORY, 1)], left(MEMORY, 5), monotonicMs(0));
    expect(state).toBe(noPressureSeen);
  });
});
