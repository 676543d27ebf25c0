import { expect, it } from "vitest";
import { isPathSegment } from "../../../src/core/pathSegment.ts";

it.each([
  ["a", true],
  ["...", true],
  [".a", true],
  ["a b", true],
  ["x".repeat(255), true],
  ["x".repeat(256), false],
  ["", false],
  [".", false],
  ["..", false],
  ["a/b", false],
  ["a\0b", false],
])("%.20j is one name of a path: %s", (text, expected) => {
  expect(isPathSegment(text)).toBe(expected);
});
