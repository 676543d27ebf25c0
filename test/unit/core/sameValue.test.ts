import { describe, expect, it } from "vitest";
import { sameValue } from "../../../src/core/sameValue.ts";

const table: readonly (readonly [string, unknown, unknown, boolean])[] = [
  ["equal texts", "a", "a", true],
  ["a text and a number", "1", 1, false],
  ["NaN and NaN", Number.NaN, Number.NaN, true],
  ["bigints", 2n ** 70n, 2n ** 70n, true],
  ["null and undefined", null, undefined, false],
  ["null and an object", null, {}, false],
  ["objects in another key order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
  ["a nested difference", { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, false],
  ["a member more", { a: 1 }, { a: 1, b: 2 }, false],
  ["an absent and an undefined member", { a: 1 }, { a: 1, b: undefined }, true],
  ["an absent and a null member", { a: 1 }, { a: 1, b: null }, false],
  ["an absent and a false member", { a: 1 }, { a: 1, b: false }, false],
  ["a member named like one every object inherits", {}, { constructor: "x" }, false],
  ["lists", [1, [2, { a: 3 }]], [1, [2, { a: 3 }]], true],
  ["lists in another order", [1, 2], [2, 1], false],
  ["a list and its beginning", [1, 2], [1], false],
  ["an empty list and an empty object", [], {}, false],
  ["a list and an object with its indexes", [1], { 0: 1 }, false],
];

describe("sameValue", () => {
  it.each(table)("%s", (_what, left, right, expected) => {
    expect([sameValue(left, right), sameValue(right, left)]).toEqual([expected, expected]);
  });
});
