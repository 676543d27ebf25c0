/** Changes per minute of an amount that is measured every few seconds. */
import { expect, it } from "vitest";
import { changePerMinute, nextTrend, type Trend } from "../../../../src/core/eviction/trend.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";

it.each([
  ["of a steady fall by 1 per second", (second: number) => 1_000 - second, [undefined, -60, -60, -60, -60]],
  ["of nothing", () => 7, [undefined, 0, 0, 0, 0]],
  ["forgets a fall after a minute", (second: number) => (second === 0 ? 60 : 0), [undefined, -360, -180, -90, 0]],
] as const)("the change per minute %s", (_, amountAt, expected) => {
  let trend: Trend | undefined;
  const found: (number | undefined)[] = [];
  for (let second = 0; second <= 80; second += 10) {
    const sample = { at: monotonicMs(second * 1_000), available: amountAt(second) };
    trend = nextTrend(trend, sample);
    if ([0, 10, 20, 40, 80].includes(second)) found.push(changePerMinute(trend, sample));
  }
  expect(found).toEqual(expected);
});

it("begins anew every 30 s, and has no change within the first second", () => {
  const sample = (ms: number) => ({ at: monotonicMs(ms), available: 0 });
  const first = nextTrend(undefined, sample(0));
  expect(nextTrend(first, sample(29_999))).toBe(first);
  expect(nextTrend(first, sample(30_000))).toEqual({ older: sample(0), newer: sample(30_000) });
  expect([changePerMinute(first, sample(999)), changePerMinute(first, sample(1_000))]).toEqual([undefined, 0]);
});
