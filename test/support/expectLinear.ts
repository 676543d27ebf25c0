import { expect } from "vitest";

/** So much more input takes so much more work when work is linear, and the square of it when work is quadratic. */
const FACTOR = 16;
/** Between the two: garbage collection and memory caches make large inputs dearer than they should be. */
const MAX_GROWTH = 90;
/** Below this a large input is no problem, and collecting garbage may be most of its work. */
const NEGLIGIBLE_MS = 250;
const TRIES = 5;

/** Processor time of this thread: what else the machine does is not in it. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Fails when `work` grows faster than its input, which `inputOf` makes of a size, and the large input takes long.
 * The least of several tries counts, and processor time at that, so a slow or busy machine does not matter. The default
 * size makes a quadratic step over each character of the large input take about a second.
 */
export function expectLinear<T>(inputOf: (size: number) => T, work: (input: T) => unknown, size = 64 * 1024): void {
  const [small, large] = [inputOf(size / FACTOR), inputOf(size)];
  const smallMs = Math.min(...Array.from({ length: TRIES }, () => cpuMs(() => work(small))));
  const limitMs = Math.max(NEGLIGIBLE_MS, smallMs * MAX_GROWTH);
  let largeMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && largeMs > limitMs; attempt += 1) {
    largeMs = Math.min(
      largeMs,
      cpuMs(() => work(large)),
    );
  }
  expect(largeMs, `milliseconds for ${FACTOR} times what took ${smallMs}`).toBeLessThanOrEqual(limitMs);
}
