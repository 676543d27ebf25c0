import { describe, expect, it } from "vitest";
import { closestName } from "../../../../src/core/config/closestName.ts";

describe("closestName", () => {
  it.each<[string, string, string, number]>([
    ["the same", "abcdef", "abcdef", 0],
    ["the same in other case", "ABCdef", "abcDEF", 0],
    ["a letter less", "abdef", "abcdef", 1],
    ["a letter more", "abcxdef", "abcdef", 1],
    ["a letter more at the end", "abcdefx", "abcdef", 1],
    ["another letter", "abxdef", "abcdef", 1],
    ["two letters swapped", "abdcef", "abcdef", 1],
    ["the first two swapped", "bacdef", "abcdef", 1],
    ["the last two swapped", "abcdfe", "abcdef", 1],
    ["two swaps", "badcef", "abcdef", 2],
    ["a swap and another letter", "bacxef", "abcdef", 2],
    ["a repeated letter, which is no swap", "aabcdef", "abcdef", 1],
    ["two letters that are no neighbours", "cbadef", "abcdef", 2],
    ["a letter between two that are swapped", "bxacdef", "abcdef", 3],
    ["nothing in common", "abc", "xyz", 3],
    ["an empty name", "", "abc", 3],
    ["a name that is empty", "abc", "", 3],
  ])("counts as edits: %s", (_, name, known, edits) => {
    expect(closestName(name, [known], edits)).toBe(known);
    expect(closestName(name, [known], edits - 1)).toBeUndefined();
  });

  it.each([
    ["ab", "ax", "ax"],
    ["ab", "xy", undefined],
    ["abcde", "abcdx", "abcdx"],
    ["abcde", "abcxy", undefined],
    ["abcdef", "abcdxy", "abcdxy"],
    ["abcdef", "abcxyz", undefined],
    ["abcdefghijk", "abcdefghxyz", "abcdefghxyz"],
    ["abcdefghijk", "abcdefgwxyz", undefined],
  ])("allows an edit for each third of the name: %s to %s", (name, known, expected) => {
    expect(closestName(name, [known])).toBe(expected);
  });

  it("prefers the closest, then the first", () => {
    expect(closestName("abcdef", ["abxyef", "abcdxx", "abcdex", "abcxef"])).toBe("abcdex");
  });

  it("suggests nothing for a name of more than 100 characters", () => {
    const [longest, longer] = ["a".repeat(100), "a".repeat(101)];
    expect([closestName(longest, [longest]), closestName(longer, [longer])]).toEqual([longest, undefined]);
  });
});
