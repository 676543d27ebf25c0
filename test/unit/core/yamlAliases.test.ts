import { describe, expect, it } from "vitest";
import { readYamlDocument } from "../../../src/cli/yamlDocument.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../../../src/core/json.ts";
import { MAX_ALIASED_NODES } from "../../../src/core/yamlAliases.ts";
import { parseManifest } from "../../../src/sources/parseManifest.ts";

const keys = Array.from({ length: 9000 }, (_, index) => `k${index}: 1`).join(", ");
const HOSTILE: readonly (readonly [string, string])[] = [
  ["one long list that is repeated", `a: &a [${"1,".repeat(2000)}1]\nb:\n${"- *a\n".repeat(60)}`],
  ["one wide map that is merged again and again", `a: &a {${keys}}\nb:\n${"- {<<: *a}\n".repeat(60)}`],
  [
    "lists that repeat each other",
    [
      "a: &a [1,1,1,1,1,1,1,1,1]",
      ..."bcdefghi".split("").map((name, at) => `${name}: &${name} [${`*${"abcdefgh"[at]},`.repeat(9)}]`),
    ].join("\n"),
  ],
  ["a list within itself", "a: &a [*a]"],
];
const parsed = (text: string) => parseManifest(new TextEncoder().encode(text));

describe("aliases of a YAML document are bounded by their expansion", () => {
  it.each(HOSTILE)("%s", (_what, text) => {
    const why = `its aliases stand for more than ${MAX_ALIASED_NODES} values`;
    expect(parsed(text)).toEqual({ documents: [], faults: [{ line: 1, reason: `cannot be read: ${why}` }] });
    expect(readYamlDocument("config.yaml", text)).toMatchObject({
      wire: undefined,
      syntaxErrors: [`config.yaml: ${why}`],
    });
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
