import { describe, expect, it } from "vitest";
import { periodOf, shutdownPeriods, shutdownSeconds } from "../../../../src/core/shutdown/shutdownPeriods.ts";

const fields = (whole: number, critical: number, byPriority: readonly (readonly [number, number])[] = []) => ({
  shutdownGracePeriod: whole * 1_000,
  shutdownGracePeriodCriticalPods: critical * 1_000,
  shutdownGracePeriodByPodPriority: byPriority.map(([priority, shutdownGracePeriodSeconds]) => ({
    priority,
    shutdownGracePeriodSeconds,
  })),
});
const CRITICAL = 2_000_000_000;

describe("the periods of a shutdown", () => {
  it.each<[string, ReturnType<typeof fields>, boolean, readonly (readonly [number, number])[]]>([
    ["there are none by default", fields(0, 0), true, []],
    [
      "critical pods have a part of the whole",
      fields(30, 10),
      true,
      [
        [0, 20],
        [CRITICAL, 10],
      ],
    ],
    [
      "without a part of theirs, critical pods have no time",
      fields(30, 0),
      true,
      [
        [0, 30],
        [CRITICAL, 0],
      ],
    ],
    [
      "other pods have no time if critical ones have all",
      fields(30, 30),
      true,
      [
        [0, 0],
        [CRITICAL, 30],
      ],
    ],
    ["a part larger than the whole turns it off", fields(10, 30), true, []],
    [
      "priorities ascend",
      fields(0, 0, [
        [1_000, 60],
        [-5, 20],
        [0, 10],
      ]),
      true,
      [
        [-5, 20],
        [0, 10],
        [1_000, 60],
      ],
    ],
    ["a negative time is none", fields(0, 0, [[0, -4]]), true, [[0, 0]]],
    [
      "priorities need their gate",
      fields(30, 10, [[0, 5]]),
      false,
      [
        [0, 20],
        [CRITICAL, 10],
      ],
    ],
    ["only priorities need their gate", fields(0, 0, [[0, 5]]), false, []],
  ])("%s", (_, config, hasPriorities, expected) => {
    const periods = shutdownPeriods(config, hasPriorities);
    expect(periods.map(({ priority, seconds }) => [priority, seconds])).toEqual(expected);
    expect(shutdownSeconds(periods)).toBe(expected.reduce((sum, [, seconds]) => sum + seconds, 0));
  });
});

describe("the period of a priority", () => {
  const periods = [0, 1_000, 1_000, 5_000].map((priority) => ({ priority, seconds: 1 }));

  it.each([
    [-10, 0],
    [0, 0],
    [999, 0],
    [1_000, 1],
    [1_001, 1],
    [5_000, 3],
    [CRITICAL, 3],
  ])("%i is in the period %i", (priority, expected) => {
    expect(periodOf(periods, priority)).toBe(expected);
  });
});
