import { describe, expect, it } from "vitest";
import { expand } from "../../../../src/core/container/expansion.ts";

const VALUES: Readonly<Record<string, string>> = {
  A: "a",
  LONG: "xxxxx",
  E: "",
  "": "<>",
  A$: "dollar",
  "$(A": "open",
};
const expanded = (text: string, maxChars = 1_000) => expand(text, (name) => VALUES[name], maxChars);

describe("expand", () => {
  it.each([
    ["", ""],
    ["plain", "plain"],
    ["$(A)", "a"],
    ["x$(A)y$(A)z", "xayaz"],
    ["$(B)$(A)", "$(B)a"],
    ["$$", "$"],
    ["$$(A)", "$(A)"],
    ["$$$(A)", "$a"],
    ["$$$$(A)", "$$(A)"],
    ["$", "$"],
    ["$A $(A)", "$A a"],
    ["$A$(A)", "$Aa"],
    ["$()", "<>"],
    ["$()x)", "<>x)"],
    ["$(A$)$(A)", "dollara"],
    ["$($(A)", "open"],
    ["$(A", "$(A"],
    ["$(A)$(A", "a$(A"],
    ["$(B", "$(B"],
    ["$(A))", "a)"],
  ])("makes of %j %j", (text, result) => {
    expect(expanded(text)).toBe(result);
  });

  it.each([
    ["plain", 5, "plain"],
    ["plain", 4, undefined],
    ["$(LONG)", 5, "xxxxx"],
    ["$(LONG)", 4, undefined],
    ["a$(E)$(E)", 1, "a"],
    ["$(LONG)b", 6, "xxxxxb"],
    ["$(LONG)b", 5, undefined],
    ["$(LONG)$(E)$(LONG)", 10, "xxxxxxxxxx"],
    ["$(LONG)$(LONG)", 9, undefined],
    ["$$$$", 2, "$$"],
    ["$$$$", 1, undefined],
    ["$(B)", 4, "$(B)"],
    ["$(B)", 3, undefined],
  ])("of %j within %i characters makes %j", (text, maxChars, result) => {
    expect(expanded(text, maxChars)).toBe(result);
  });

  it("ends as soon as the result is too long", () => {
    let asked = 0;
    const valueOf = () => {
      asked += 1;
      return "x".repeat(100);
    };
    expect(expand("$(A)".repeat(10_000), valueOf, 250)).toBeUndefined();
    expect(asked).toBe(3);
  });
});
