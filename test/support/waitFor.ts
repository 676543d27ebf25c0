/** Waits for the world outside by asking it, with an end: for tests against real processes only. */
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds until the next question: few at first, then more, because each question costs a daemon a request. */
const FIRST_PAUSE_MS = 10;
const LAST_PAUSE_MS = 100;
const GROWTH = 1.2;

/**
 * The first value of `probe` that is neither undefined nor false; errors it throws count as "not yet". Rejects after
 * `timeoutMs`, naming what was waited for and the last error.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let last: unknown;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * GROWTH, LAST_PAUSE_MS)) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = undefined;
    } catch (thrown) {
      last = thrown;
    }
    if (performance.now() > end) {
      const why = last === undefined ? "" : `: ${last instanceof Error ? last.message : JSON.stringify(last)}`;
      throw new Error(`waited ${timeoutMs} ms for ${what}${why}`);
    }
    await pause(pauseMs);
  }
}
