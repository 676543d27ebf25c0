import { describe, expect, it } from "vitest";
import { milliCpuToQuotaUs, milliCpuToShares } from "../../../../src/core/resources/cgroupMath.ts";

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
