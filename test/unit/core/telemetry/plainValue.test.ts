import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { plainFields, safeText } from "../../../../src/core/telemetry/plainValue.ts";

const plain = (value: unknown, key = "a") => plainFields({ [key]: value })[0]?.[1];
const nested = (depth: number): unknown => (depth === 0 ? "leaf" : { a: nested(depth - 1) });
const zeros = (count: number) => Array.from({ length: count }, () => 0);
/** An error with this many causes. */
const chain = (causes: number): Error => new Error(`e${causes}`, causes === 0 ? {} : { cause: chain(causes - 1) });

describe("fields of a log line", () => {
  it.each<[string, unknown, unknown]>([
    ["null", null, null],
    ["false", false, false],
    ["a number", 1.5, 1.5],
    ["an infinite number", Number.POSITIVE_INFINITY, "Infinity"],
    ["a bigint", 12n, "12"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["a function", () => 1, "[function]"],
    ["bytes", new Uint8Array(3), "[3 bytes]"],
    ["a map", new Map([["k", 1]]), { k: 1 }],
    ["a set", new Set([1, 2]), [1, 2]],
    ["an object without its undefined fields", { b: undefined, c: null }, { c: null }],
    ["an error", new Error("boom"), "boom"],
    ["an error without a message", new TypeError(""), "TypeError"],
    ["an error with a cause that is text", new Error("a", { cause: "b" }), "a: b"],
    ["an error with a cause that is a number", new Error("a", { cause: 7 }), "a"],
    ["an error that repeats its cause", new Error("a: b", { cause: new Error("b") }), "a: b"],
    ["an error without any text", kubeletError("Io", ""), "unknown error"],
    ["four causes", chain(4), "e4: e3: e2: e1: e0"],
    ["five causes", chain(5), "e5: e4: e3: e2: e1"],
    ["64 items", zeros(64), zeros(64)],
    ["65 items", zeros(65), [...zeros(64), "... (65 items)"]],
  ])("%s", (_, value, expected) => {
    expect(plain(value)).toEqual(expected);
  });

  it("are at most six levels deep and 64 fields wide", () => {
    const text = (depth: number) => JSON.stringify(plain(nested(depth)));
    expect([text(6).includes("leaf"), text(7).includes("[too deep]"), text(6).includes("[too deep]")]).toEqual([
      true,
      true,
      false,
    ]);
    const wide = Object.fromEntries(zeros(65).map((zero, index) => [`f${index}`, zero]));
    expect(Object.keys(plain(wide) as object)).toHaveLength(64);
  });

  it.each<[string, unknown, unknown]>([
    ["token", "t", "[redacted]"],
    ["apiKey", "t", "[redacted]"],
    ["private_key", ["t"], "[redacted]"],
    ["credentials", { user: "u" }, "[redacted]"],
    ["auth", "t", "[redacted]"],
    ["tokens", 3, 3],
    ["token", true, true],
    ["token", null, null],
    ["tokenFile", "/t", "/t"],
    ["env", "plain", "plain"],
    ["env", [{ name: "A", value: "v" }], [{ name: "A", value: "[redacted]" }]],
    ["envs", [{ key: "B", value: "v" }], [{ name: "B", value: "[redacted]" }]],
    ["env", [null, "text"], Array(2).fill({ name: null, value: "[redacted]" })],
    ["env", zeros(65), Array(64).fill({ name: null, value: "[redacted]" })],
    ["environment", [{ name: "A", value: "v" }], [{ name: "A", value: "v" }]],
  ])("the key %s with %j", (key, value, expected) => {
    expect(plain(value, key)).toEqual(expected);
  });
});

describe("safeText", () => {
  it.each([
    ["Basic abcd", "Basic [redacted]"],
    ["Basic abc", "Basic abc"],
    ["bearer  a.b-c_d~e+f/g=", "bearer [redacted]"],
    ["see https://u:p@h/x and http://u@h", "see https://[redacted]@h/x and http://u@h"],
    ["x".repeat(8192), "x".repeat(8192)],
    ["x".repeat(8193), `${"x".repeat(8192)}... (8193 characters)`],
  ])("%.20j", (text, expected) => {
    expect(safeText(text)).toBe(expected);
  });
});
