import { describe, expect, it } from "vitest";
import { readYamlDocument } from "../../../src/cli/yamlDocument.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../../../src/core/json.ts";
import { MAX_ALIASED_NODES, MAX_ALIASES } from "../../../src/core/yamlAliases.ts";
import { parseManifest } from "../../../src/sources/parseManifest.ts";

const keys = Array.from({ length: 9000 }, (_, index) => `k${index}: 1`).join(", ");
/** Title, text and the line of the alias that is too much. */
const HOSTILE: readonly (readonly [string, string, number])[] = [
  ["one long list that is repeated", `a: &a [${"1,".repeat(2000)}1]\nb:\n${"- *a\n".repeat(60)}`, 52],
  ["one wide map that is merged again and again", `a: &a {${keys}}\nb:\n${"- {<<: *a}\n".repeat(60)}`, 6],
  [
    "lists that repeat each other",
    [
      "a: &a [1,1,1,1,1,1,1,1,1]",
      ..."bcdefghi".split("").map((name, at) => `${name}: &${name} [${`*${"abcdefgh"[at]},`.repeat(9)}]`),
    ].join("\n"),
    6,
  ],
  ["a list within itself", "a: 1\nb: &a\n- *a", 3],
];
const parsed = (text: string) => parseManifest(new TextEncoder().encode(text));

describe("aliases of a YAML document are bounded by their expansion", () => {
  const expectFault = (text: string, line: number, reason: string): void => {
    expect(parsed(text)).toEqual({ documents: [], faults: [{ line, reason }] });
    expect(readYamlDocument("config.yaml", text)).toMatchObject({
      wire: undefined,
      syntaxErrors: [`config.yaml:${line}: ${reason}`],
    });
  };

  it.each(HOSTILE)("%s", (_what, text, line) => {
    expectFault(text, line, `its aliases stand for more than ${MAX_ALIASED_NODES} values`);
  });

  it("as many as there may be, and one more", () => {
    const list = `a: &a 1\nb:\n${"- *a\n".repeat(MAX_ALIASES)}`;
    expect([parsed(list).faults, readYamlDocument("config.yaml", list).syntaxErrors]).toEqual([[], []]);
    expectFault(`${list}\n- *a\n`, MAX_ALIASES + 4, `holds more than ${MAX_ALIASES} aliases`);
  });

  it("as many values as there may be, and one more", () => {
    const list = (count: number) =>
      `a: &a [${"1,".repeat(998)}1]\nb:\n${"- *a\n".repeat(100)}- &c [${"1,".repeat(count)}]`;
    expect(parsed(list(1)).faults).toEqual([]);
    expectFault(`${list(1)}\n- *c\n`, 104, `its aliases stand for more than ${MAX_ALIASED_NODES} values`);
  });

  it.each([
    ["a: 1\nb: *x\n", 2, "x"],
    ["a: 1\nb:\n  - <<: *x\n", 3, "x"],
    ["a: *x\nb: &x 1\n", 1, "x"],
    [`a: 1\nb: *${"y".repeat(70)}`, 2, "y".repeat(60)],
  ])("names the line of an alias without an anchor: %j", (text, line, name) => {
    expectFault(text, line, `the alias "*${name}" has no anchor before it`);
  });

  it("accepts ordinary aliases and merges, also of anchors named like scalars", () => {
    const text = "a: &a {x: 1}\nb: {<<: *a, z: a}\nc: [*a, a]";
    const expected = { a: { x: 1 }, b: { x: 1, z: "a" }, c: [{ x: 1 }, "a"] };
    expect(parsed(text).documents.map(({ value }) => value)).toEqual([expected]);
    expect(readYamlDocument("config.yaml", text).wire).toEqual(expected);
  });
});

describe("the depth of a document is bounded", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

  it("counts objects and lists", () => {
    expect(isTooDeep(JSON.parse(nested(MAX_JSON_DEPTH)))).toBe(false);
    expect(isTooDeep(JSON.parse(nested(MAX_JSON_DEPTH + 1)))).toBe(true);
  });

  it.each([MAX_JSON_DEPTH + 1, 300_000])("rejects a manifest of %d levels", (depth) => {
    const reason = `cannot be read: it is nested more than ${MAX_JSON_DEPTH} levels deep`;
    expect(parsed(nested(depth))).toEqual({ documents: [], faults: [{ line: undefined, reason }] });
  });
});
