import { describe, expect, it } from "vitest";
import { applied, mutationsOf } from "../../../scripts/mutation/mutations.ts";

/** All texts that one mutation of `text` can give. */
const mutantsOf = (text: string): readonly string[] =>
  mutationsOf("sample.ts", text).map((mutation) => applied(text, mutation));

describe("mutations of a source", () => {
  it("turn a comparison around, shift its number and negate the condition", () => {
    expect(mutantsOf("if (a < 3) b();")).toEqual([
      "if (!(a < 3)) b();",
      "if (a <= 3) b();",
      "if (a < (3 + 1)) b();",
      "if (a < 3) ;",
    ]);
  });

  it("drop a default, a negation and a call whose value nobody uses", () => {
    expect(mutantsOf("x = a ?? !b;\nf(x);")).toEqual(["x = !b;\nf(x);", "x = a ?? b;\nf(x);", "x = a ?? !b;\n;"]);
  });

  it("change a short text, but no message, no import and no property name", () => {
    const text = 'import a from "a";\nconst b = { "c-d": "e", f: "a message" };';
    expect(mutantsOf(text)).toEqual([text.replace('"e"', '"mutated"')]);
  });

  it("leave types and thrown errors as they are", () => {
    expect(mutantsOf('type A = "a" | "b";\nthrow new Error("x" + 1);\ninvariant(a === b);')).toEqual([]);
  });

  it("double the factor of a unit, which off by one differs too little to notice", () => {
    expect(mutantsOf("const MS_PER_SECOND = 1_000;")).toEqual(["const MS_PER_SECOND = (1000 * 2);"]);
  });

  it.each([
    ["if (a !== b) return a > b;", "if (a !== b) return a >= b;"],
    ["{ if (a === b) return; return b > a; }", "{ if (a === b) return; return b >= a; }"],
    ["sort((a, b) => (a < b ? -1 : 1));", "sort((a, b) => (a <= b ? -1 : 1));"],
  ])("leave the bound where both sides are never equal: %s", (text, equivalent) => {
    expect(mutantsOf(text)).not.toContain(equivalent);
  });

  it.each([
    ["if (a !== c) return a > b;", "if (a !== c) return a >= b;"],
    ["{ if (a === c) return; return b > a; }", "{ if (a === c) return; return b >= a; }"],
    ["x = a < b ? -1 : 0;", "x = a <= b ? -1 : 0;"],
    ["x = a < b ? -1 : 0;", "x = a < b ? -1 : (0 + 1);"],
  ])("move the bound where both sides can be equal: %s", (text, other) => {
    expect(mutantsOf(text)).toContain(other);
  });

  it("leave the size of numbers whose sign alone matters", () => {
    expect(mutantsOf("sort((a, b) => (a < b ? -1 : 1));")).toEqual([";", "sort((a, b) => (!(a < b) ? -1 : 1));"]);
  });

  it("drop warnings and errors of the log, and no other lines", () => {
    expect(mutantsOf('telemetry.log.info("Now", { a: 1 });\nlog.debug("x", b);')).toEqual([]);
    expect(mutantsOf('telemetry.log.warn("Not now");')).toEqual([";"]);
  });

  it("never subtract texts", () => {
    expect(mutantsOf("x = `a` + y;")).toEqual([]);
  });

  it("name the line they are in", () => {
    expect(mutationsOf("sample.ts", "f(\n  true,\n);").map(({ line }) => line)).toEqual([1, 2]);
  });
});
