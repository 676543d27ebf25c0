import { describe, expect, it } from "vitest";
import {
  milliCpuToQuotaUs,
  milliCpuToShares,
  sharesToWeight,
  weightToShares,
} from "../../../../src/core/resources/cgroupMath.ts";

describe("cgroupMath", () => {
  it.each([
    [0n, 2n],
    [1n, 2n],
    [50n, 51n],
    [100n, 102n],
    [1000n, 1024n],
    [1_000_000n, 262_144n],
  ])("%d thousandths of a CPU give %d shares", (milli, shares) => {
    expect(milliCpuToShares(milli)).toBe(shares);
  });

  it.each([
    [0n, 100_000n, 0n],
    [1n, 100_000n, 1000n],
    [100n, 100_000n, 10_000n],
    [2500n, 100_000n, 250_000n],
    [100n, 10_000n, 1000n],
  ])("%d thousandths per %d us give a quota of %d us", (milli, period, quota) => {
    expect(milliCpuToQuotaUs(milli, period)).toBe(quota);
  });
});

it.each([
  [0, 1],
  [2, 1],
  [28, 1],
  [29, 2],
  [1024, 39],
  [262_144, 10_000],
])("%d shares are the weight %d", (shares, weight) => {
  expect(sharesToWeight(shares)).toBe(weight);
});

it.each([
  [1, 2],
  [2, 28],
  [100, 2_597],
  [10_000, 262_144],
])("the weight %d is %d shares", (weight, shares) => {
  expect(weightToShares(weight)).toBe(shares);
});
