import { expect, it } from "vitest";
import { newerObject } from "../../../../src/core/node/newerObject.ts";

const object = (resourceVersion?: string) => ({
  metadata: { name: "n", ...(resourceVersion === undefined ? {} : { resourceVersion }) },
});

it.each([
  ["9", "10", "second"],
  ["10", "9", "first"],
  ["10", "10", "first"],
  ["10", "010", "first"],
  ["18446744073709551615", "18446744073709551616", "second"],
  ["a", "10", "first"],
  ["10", "a", "first"],
  ["", "10", "first"],
  ["10", undefined, "first"],
  [undefined, "10", "first"],
  [undefined, undefined, "first"],
])("of the versions %j and %j the %3$s object is newer", (a, b, newer) => {
  const [first, second] = [object(a), object(b)];
  expect(newerObject(first, second)).toBe(newer === "first" ? first : second);
});
