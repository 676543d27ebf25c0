import { expect, it } from "vitest";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { createRateLimit } from "../../../../src/server/podResources/rateLimit.ts";

function limitAt(start: number) {
  const clock = { ms: start };
  const mayServe = createRateLimit(() => monotonicMs(clock.ms));
  const served = (requests: number): number => Array.from({ length: requests }, mayServe).filter(Boolean).length;
  return { clock, served };
}

it("serves a burst of 10 requests, and refuses the others", () => {
  expect(limitAt(5_000).served(1_000)).toBe(10);
});

it.each([
  [9, 0],
  [10, 1],
  [50, 5],
  [3_600_000, 10],
])("serves as many after a burst as 100 per second give, 10 at most: after %d ms %d", (ms, more) => {
  const { clock, served } = limitAt(0);
  served(10);
  clock.ms += ms;
  expect(served(1_000)).toBe(more);
});

it("serves 100 requests in each second of a steady stream", () => {
  const { clock, served } = limitAt(0);
  served(10);
  let count = 0;
  for (let tick = 0; tick < 1_000; tick += 1) {
    clock.ms += 5;
    count += served(3);
  }
  expect(count).toBe(500);
});
