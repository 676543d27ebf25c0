import { expect, it } from "vitest";
import { earlierDue, leavingDue, namesText } from "../../../../src/core/admission/leavingPods.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";

it.each([
  [0, 10, 60],
  [6, 10, 66],
  [7, 10, 67],
  [8, 12, 68],
  [30, 45, 90],
  [119, 178, 179],
  [120, 180, 180],
  [122, 183, 183],
])("a grace period of %d s lets critical pods wait %d s, and other pods %d s", (grace, critical, everyone) => {
  expect(leavingDue(grace, monotonicMs(500))).toEqual({
    criticalPods: 500 + critical * 1000,
    everyone: 500 + everyone * 1000,
  });
});

const due = (criticalPods: number, everyone: number) => ({
  criticalPods: monotonicMs(criticalPods),
  everyone: monotonicMs(everyone),
});

it.each([
  [undefined, due(3, 4), due(3, 4)],
  [due(1, 9), due(3, 4), due(1, 4)],
  [due(5, 2), due(3, 4), due(3, 2)],
])("of the deadlines %j and %j the earlier ones count", (before, next, expected) => {
  expect(earlierDue(before, next)).toEqual(expected);
});

it.each([
  [[], ""],
  [["a"], "a"],
  [["a", "b", "c"], "a, b, c"],
  [["a", "b", "c", "d"], "a, b, c and 1 more"],
  [["a", "b", "c", "d", "e"], "a, b, c and 2 more"],
])("the names %j are shown as %j", (names, text) => {
  expect(namesText(names)).toBe(text);
});
