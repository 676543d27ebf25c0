import { expect, it } from "vitest";
import { isTextTooDeep, isTooDeep, parseJson } from "../../../src/core/json.ts";
import { sameValue } from "../../../src/core/sameValue.ts";
import { mergePatch } from "../../../src/core/config/mergePatch.ts";
import { jsonMergeDiff } from "../../../src/sim/apiServer/patches/jsonMergePatch.ts";
import { strategicMergeDiff } from "../../../src/core/api/strategicMergeDiff.ts";
import { strategicMergePatch } from "../../../src/sim/apiServer/patches/strategicMergePatch.ts";
import { samePodStatus } from "../../../src/core/api/podStatusMerge.ts";
import { PLAIN } from "../../../src/core/api/patchSchema.ts";

/** Maximum depth of JSON. */
const LEVELS = 500;

const lists = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const objects = (depth: number, end: string): string => `${'{"a":'.repeat(depth)}${end}${"}".repeat(depth)}`;

it.each([
  ["lists", lists(LEVELS), lists(LEVELS + 1)],
  ["objects", objects(LEVELS, "1"), objects(LEVELS + 1, "1")],
  ["objects that begin and do not end", "{}", '{"a":'.repeat(1_000_000)],
])("JSON text is read down to the limit: %s", (_what, within, beyond) => {
  expect([isTextTooDeep(within), isTooDeep(parseJson(within))]).toEqual([false, false]);
  expect(parseJson(within)).toEqual(JSON.parse(within));
  expect([isTextTooDeep(beyond), parseJson(beyond)]).toEqual([true, undefined]);
});

it("brackets in strings do not count, whatever is escaped there", () => {
  const value = { a: `${"[".repeat(2000)}\\"`, b: `\\\\"${"{".repeat(2000)}`, c: "]".repeat(2000), d: [[]] };
  expect(parseJson(JSON.stringify(value))).toEqual(value);
});

it("functions that call themselves bear a value at the limit", () => {
  const [one, two] = ["1", "2"].map((end) => JSON.parse(objects(LEVELS, end)) as Record<string, unknown>);
  if (one === undefined || two === undefined) throw new Error("two values");
  expect([sameValue(one, two), samePodStatus(one, two)]).toEqual([false, false]);
  expect(mergePatch(one, two)).toEqual(two);
  expect(strategicMergeDiff(one, two, PLAIN)).toEqual(two);
  expect(strategicMergePatch(one, two, PLAIN)).toEqual({ ok: true, value: two });
  expect(jsonMergeDiff(one, two)).toEqual(two);
});
