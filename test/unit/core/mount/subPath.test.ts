import { expect, it } from "vitest";
import { namesBelow, namesOf, subPathFault } from "../../../../src/core/mount/subPath.ts";

it.each([
  ["", undefined],
  ["a/b", undefined],
  ["..a/b..", undefined],
  ["é", undefined],
  ["/a", "must be a relative path"],
  ["..", "must not contain '..'"],
  ["a/../b", "must not contain '..'"],
  ["a\0", "must be UTF-8 without NUL"],
  ["a\ud800", "must be UTF-8 without NUL"],
])("the fault of the subpath %j is %j", (subPath, fault) => {
  expect(subPathFault(subPath)).toBe(fault);
});

it.each([
  ["/", "/", []],
  ["/", "/a/b", ["a", "b"]],
  ["/a", "/a", []],
  ["/a", "/a/./b//c/", ["b", "c"]],
  ["/a", "/ab", undefined],
  ["/a", "/b", undefined],
  ["/a/b", "/a", undefined],
])("below %s, %s has the names %j", (root, path, names) => {
  expect(namesBelow(root, path)).toEqual(names);
});

it("a path has the names between its slashes", () => {
  expect([namesOf("/a/./b/"), namesOf(".."), namesOf("/")]).toEqual([["a", "b"], [".."], []]);
});
