import { describe, expect, it } from "vitest";
import { matchesGlob } from "../../../src/core/glob.ts";
import { expectLinear } from "../../support/expectLinear.ts";

describe("matchesGlob", () => {
  it.each([
    ["abc", "abc", true],
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["*", "abc", true],
    ["*c", "abc", true],
    ["a*", "a", true],
    ["a*", "ab/c", false],
    ["a*/b", "abc/b", true],
    ["a*/b", "a/c/b", false],
    ["a*b*c*d*e*/f", "axbxcxdxe/f", true],
    ["a*b*c*d*e*/f", "axbxcxdxexxx/fff", false],
    ["a*b?c*x", "abxbbxdbxebxczzx", true],
    ["a*b?c*x", "abxbbxdbxebxczzy", false],
    ["a?b", "a☺b", true],
    ["a?b", "a/b", false],
    ["ab[c]", "abc", true],
    ["ab[b-d]", "abc", true],
    ["ab[e-g]", "abc", false],
    ["ab[^b-d]", "abc", false],
    ["ab[^e-g]", "abc", true],
    ["[\\]a]", "]", true],
    ["[\\-x]", "-", true],
    ["[x\\-]", "z", false],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["a.b", "axb", false],
  ])("%s matches %s: %s", (pattern, name, expected) => expect(matchesGlob(pattern, name)).toBe(expected));

  it.each(["[", "[]a]", "[-]", "[x-]", "[-x]", "[a-b-c]", "a[", "[^", "[^b", "\\", "[\\"])(
    "matches nothing with the malformed %s",
    (pattern) => expect(["a", "]", "-", "x", "", pattern].filter((name) => matchesGlob(pattern, name))).toEqual([]),
  );

  it("rejects patterns and names beyond its bounds", () => {
    expect(matchesGlob("*", "a".repeat(255))).toBe(true);
    expect(matchesGlob("*", "a".repeat(256))).toBe(false);
    expect(matchesGlob("*".repeat(1024), "a")).toBe(true);
    expect(matchesGlob("*".repeat(1025), "a")).toBe(false);
  });

  it("takes no longer for patterns with many stars", () => {
    const name = "a".repeat(63);
    expectLinear(
      (stars) => "*a".repeat(stars),
      (pattern) => Array.from({ length: 200 }, () => matchesGlob(pattern, `${name}b`)),
      48,
    );
  });
});
