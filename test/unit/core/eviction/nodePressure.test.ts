/** Each letter is an observation, 10 s apart: the available amount, and the resulting pressure. */
import { describe, expect, it } from "vitest";
import {
  isRelieved,
  nextPressure,
  noPressureSeen,
  type PressureState,
  pressuresOf,
  prolonged,
  thresholdsMet,
  thresholdsToActOn,
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
const left = (signal: Signal, available: number | undefined, at = 0): Observations =>
  new Map(available === undefined ? [] : [[signal, { available, capacity: 1_000, at: monotonicMs(at) }]]);

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

describe("the thresholds to act on", () => {
  const MEMORY = threshold("memory.available", 100);
  const SOFT = threshold("memory.available", 200, { graceMs: 15_000 });
  const PODS = threshold("allocatableMemory.available", 100);
  const DISK = threshold("nodefs.available", 100);
  const PIDS = threshold("pid.available", 100);
  const all = [DISK, PIDS, SOFT, PODS, MEMORY];
  const observed = (available: number, at: number, ...signals: readonly Signal[]): Observations =>
    new Map(signals.flatMap((signal) => [...left(signal, available, at)]));
  const MEMORY_SIGNALS = ["memory.available", "allocatableMemory.available"] as const;

  it("are those for memory first, hard ones before soft ones, the others in the order of the configuration", () => {
    const observations = observed(50, 0, "pid.available", "nodefs.available", ...MEMORY_SIGNALS);
    const long = nextPressure(noPressureSeen, all, observations, monotonicMs(0));
    const state = nextPressure(long, all, observations, monotonicMs(15_000));
    expect(thresholdsToActOn(state, observations, new Map())).toEqual([PODS, MEMORY, SOFT, DISK, PIDS]);
  });

  it("are met for their grace period, unlike all that are met", () => {
    const state = nextPressure(noPressureSeen, all, observed(50, 0, "memory.available"), monotonicMs(0));
    expect(thresholdsToActOn(state, observed(50, 0, "memory.available"), new Map())).toEqual([MEMORY]);
    expect(thresholdsMet(state)).toEqual([MEMORY, SOFT]);
  });

  it("have a signal that was measured again since the last look", () => {
    const state = nextPressure(noPressureSeen, all, observed(50, 0, "memory.available"), monotonicMs(0));
    const at = (ms: number): Observations => observed(50, ms, "memory.available");
    expect(thresholdsToActOn(state, at(5), at(5))).toEqual([]);
    expect(thresholdsToActOn(state, at(6), at(5))).toEqual([MEMORY]);
    expect(thresholdsToActOn(state, new Map(), at(5))).toEqual([]);
  });

  it("are none once everything to reclaim is available, also for thresholds that were not met", () => {
    const reclaiming = [MEMORY, threshold("nodefs.available", 100, { reclaim: { units: 50 } })];
    const relieved = (disk: number): boolean =>
      isRelieved(reclaiming, new Map([...left("memory.available", 100), ...left("nodefs.available", disk)]));
    expect([149, 150].map(relieved)).toEqual([false, true]);
  });
});

describe("measurements between two looks", () => {
  const DISK = threshold("nodefs.available", 100);
  const under = { memory: false, disk: true, pid: false };
  it.each([
    ["prolong a pressure while a threshold is met", 99, under, 5],
    ["do not prolong it once none is met", 100, under, 0],
    ["start no pressure", 99, { ...under, disk: false }, 0],
  ])("%s", (_, available, pressures, lastMet) => {
    const state = nextPressure(noPressureSeen, [DISK], left("nodefs.available", 50), monotonicMs(0));
    const next = prolonged(state, [DISK], left("nodefs.available", available, 5), pressures);
    expect(next).toEqual({ ...state, lastMet: { disk: lastMet } });
    expect(prolonged(next, [DISK], left("nodefs.available", available, 5), pressures)).toBe(next);
  });
});
