import { expect } from "vitest";

/** So much more input takes so much more work when work is linear, and the square of it when work is quadratic. */
const FACTOR = 16;
/** Between the two: garbage collection and memory caches make large inputs dearer than they should be. */
const MAX_GROWTH = 90;
/** Below this the clock, not the work, decides. */
const NEGLIGIBLE_MS = 4;
const TRIES = 5;

function elapsedMs(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/**
 * Fails when `work` grows faster than its input, which `inputOf` makes of a size. It compares the least time of several
 * tries with that of a smaller input, so a slow or busy machine does not matter. The default size makes a quadratic
 * step over each character of the large input take about a second.
 */
export function expectLinear<T>(inputOf: (size: number) => T, work: (input: T) => unknown, size = 64 * 1024): void {
  const [small, large] = [inputOf(size / FACTOR), inputOf(size)];
  const smallMs = Math.min(...Array.from({ length: TRIES }, () => elapsedMs(() => work(small))));
  const limitMs = Math.max(NEGLIGIBLE_MS, smallMs * MAX_GROWTH);
  let largeMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && largeMs > limitMs; attempt += 1) {
    largeMs = Math.min(
      largeMs,
      elapsedMs(() => work(large)),
    );
  }
  const growth = (largeMs / smallMs).toFixed(0);
  expect(largeMs, `${FACTOR} times the input took ${growth} times the work`).toBeLessThanOrEqual(limitMs);
}
