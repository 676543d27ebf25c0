import { describe, expect, it } from "vitest";
import { shrinkList } from "../../src/sim/shrinkList.ts";

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const needs =
  (...wanted: readonly number[]) =>
  (kept: readonly number[]): boolean =>
    wanted.every((each) => kept.includes(each));

describe("shrinkList", () => {
  it.each([
    ["nothing, when nothing is needed", 10, []],
    ["the one that is needed", 10, [7]],
    ["two far apart, in their order", 33, [0, 32]],
    ["neighbours", 16, [7, 8]],
    ["all of them", 5, [0, 1, 2, 3, 4]],
    ["none of none", 0, []],
  ])("leaves %s", (_, count, wanted) => {
    expect(shrinkList(numbers(count), needs(...wanted), { runs: 1_000 })).toEqual(wanted);
  });

  it("finds elements that fail only together", () => {
    const fails = (kept: readonly number[]): boolean => kept.filter((each) => each % 2 === 1).length >= 2;
    expect(shrinkList(numbers(9), fails, { runs: 1_000 })).toHaveLength(2);
  });

  it("takes a number of tries that grows with the logarithm of the list for one needed thing", () => {
    const budget = { runs: 1_000 };
    shrinkList(numbers(1_024), needs(500), budget);
    expect(1_000 - budget.runs).toBeLessThan(40);
  });

  it("ends with a failing list when the tries are used up", () => {
    const budget = { runs: 3 };
    const kept = shrinkList(numbers(64), needs(1, 40), budget);
    expect([budget.runs, needs(1, 40)(kept), kept.length > 2]).toEqual([0, true, true]);
  });
});
