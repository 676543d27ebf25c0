/** Bounds of buckets as Go prints them. */
import { expect, it } from "vitest";
import { goBound, needsGoBounds, withGoBounds } from "../../../../src/core/telemetry/bucketBounds.ts";

it.each([
  ["0", "0"],
  ["0.005", "0.005"],
  ["0.0001", "0.0001"],
  ["0.00001", "1e-05"],
  ["2.5e-7", "2.5e-07"],
  ["60", "60"],
  ["86400", "86400"],
  ["100000", "100000"],
  ["1000000", "1e+06"],
  ["15552000", "1.5552e+07"],
  ["124416000", "1.24416e+08"],
  ["+Inf", "+Inf"],
])("prints %s as %s", (text, expected) => {
  expect(goBound(text)).toBe(expected);
  expect(needsGoBounds([Number(text)].filter(Number.isFinite))).toBe(text !== expected);
});

it("are replaced in the text of a histogram only at their place", () => {
  expect(withGoBounds('a_bucket{x="2592000",le="2592000"} 2592000\na_sum 2592000\n')).toBe(
    'a_bucket{x="2592000",le="2.592e+06"} 2592000\na_sum 2592000\n',
  );
});
