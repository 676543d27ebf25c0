import { describe, expect, it } from "vitest";
import { jsonMergeDiff, jsonMergePatch } from "../../../../src/sim/apiServer/patches/jsonMergePatch.ts";
import type { JsonPatchOperation } from "../../../../src/core/api/jsonPatchOperation.ts";
import { jsonPatch } from "../../../../src/sim/apiServer/patches/jsonPatch.ts";

const APPLIED: readonly (readonly [string, unknown, readonly JsonPatchOperation[], unknown])[] = [
  ["adds a member", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  ["adds over a member", { a: 1 }, [{ op: "add", path: "/a", value: 2 }], { a: 2 }],
  ["inserts into a list", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
  ["appends by -", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  ["removes a member", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  ["removes an element", [1, 2, 3], [{ op: "remove", path: "/1" }], [1, 3]],
  ["replaces in depth", { a: [{ b: 1 }] }, [{ op: "replace", path: "/a/0/b", value: 2 }], { a: [{ b: 2 }] }],
  ["moves", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
  ["copies", { a: [1] }, [{ op: "copy", from: "/a", path: "/b" }], { a: [1], b: [1] }],
  [
    "continues after a successful test",
    { a: 1 },
    [
      { op: "test", path: "/a", value: 1 },
      { op: "replace", path: "/a", value: 2 },
    ],
    { a: 2 },
  ],
  [
    "reads ~1 and ~0",
    { "a/b": 1, "c~d": 1 },
    [
      { op: "remove", path: "/a~1b" },
      { op: "remove", path: "/c~0d" },
    ],
    {},
  ],
  ["replaces the whole document", { a: 1 }, [{ op: "replace", path: "", value: { b: 1 } }], { b: 1 }],
];

const REFUSED: readonly (readonly [string, unknown, readonly JsonPatchOperation[], string])[] = [
  ["a test that fails", { a: 1 }, [{ op: "test", path: "/a", value: 2 }], "test /a: the value differs"],
  ["a missing member", { a: 1 }, [{ op: "remove", path: "/b" }], "nothing at /b"],
  ["an index beyond the list", [1], [{ op: "replace", path: "/1", value: 2 }], "no element 1 in a list of 1"],
  ["a malformed path", {}, [{ op: "remove", path: "a" }], '"a" is not a JSON pointer'],
  [
    "a parent that holds nothing",
    { a: 1 },
    [{ op: "add", path: "/a/b", value: 1 }],
    'add: no list or map that contains "b"',
  ],
  ["another operation", {}, [{ op: "frob" } as unknown as JsonPatchOperation], 'unknown operation "frob"'],
];

describe("jsonPatch", () => {
  it.each(APPLIED)("%s", (_rule, original, operations, expected) => {
    const before = structuredClone(original);
    expect(
      jsonPatch(
        original,
        operations.map((each) => ({ ...{ path: "" }, ...each })),
      ),
    ).toEqual({ ok: true, value: expected });
    expect(original).toEqual(before);
  });

  it.each(REFUSED)("rejects %s", (_what, original, operations, message) => {
    const result = jsonPatch(
      original,
      operations.map((each) => ({ ...{ path: "" }, ...each })),
    );
    expect(result.ok ? result.value : result.error.message).toBe(message);
  });
});

describe("jsonMergeDiff", () => {
  it.each([
    ["is empty for the same object", { a: { b: 1 } }, { a: { b: 1 } }, {}],
    ["has only what changed", { a: { b: 1, c: 1 } }, { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
    ["removes by null", { a: 1, b: { c: 1 } }, { b: {} }, { a: null, b: { c: null } }],
    ["replaces lists", { a: [1, 2] }, { a: [1] }, { a: [1] }],
  ])("%s", (_rule, older, newer, patch) => {
    expect(jsonMergeDiff(older, newer)).toEqual(patch);
    expect(jsonMergePatch(older, patch)).toEqual(newer);
  });
});
