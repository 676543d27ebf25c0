import { describe, expect, it } from "vitest";
import { jsonFields } from "../../../src/core/jsonFields.ts";
import { expectLinear } from "../../support/expectLinear.ts";

const fieldsOf = (text: string): readonly string[] =>
  Array.from(jsonFields(text), ({ steps, line }) => `${line} ${steps.join(".")}`.trimEnd());

describe("the fields of a JSON text", () => {
  it("are named from the top, each at its line", () => {
    const text = '{\n"a": 1,\n"b": {\n"c": [\n"x", {\n"d": null\n},\n[true, -1.5e3]\n]\n},\n"e":\nfalse\n}';
    expect(fieldsOf(text)).toEqual([
      "1",
      "2 a",
      "3 b",
      "4 b.c",
      "5 b.c.0",
      "5 b.c.1",
      "6 b.c.1.d",
      "8 b.c.2",
      "8 b.c.2.0",
      "8 b.c.2.1",
      "11 e",
    ]);
  });

  it("follow empty collections", () => {
    expect(fieldsOf('{"a": {}, "b": [], "c": [{}, []]}')).toEqual(["1", "1 a", "1 b", "1 c", "1 c.0", "1 c.1"]);
  });

  it.each([
    ["brackets and commas", '{"a{[,": "]}", "b": ","}', ["1", "1 a{[,", "1 b"]],
    ["escaped quotes", String.raw`{"a\"": "\\", "b": "\","}`, ["1", '1 a"', "1 b"]],
    ["escaped names", String.raw`{"\u0061": 1}`, ["1", "1 a"]],
  ])("may have texts with %s", (_, text, expected) => {
    expect(fieldsOf(text)).toEqual(expected);
  });

  it("begin after empty lines", () => {
    expect(fieldsOf("\n\r\n[1]")).toEqual(["3", "3 0"]);
  });

  it("take time in proportion to the text", () => {
    expectLinear(
      (count) => `[${'{"a":"x"},'.repeat(count)}"${"y".repeat(count)}"]`,
      (text) => fieldsOf(text).length,
    );
  });
});
