/** How fast the available amount of a signal changes, from its looks of the last minute. */
import type { MonotonicMs } from "../ids.ts";

/** A measured amount. */
export interface Sample {
  readonly at: MonotonicMs;
  readonly available: number;
}

/** Samples that the latest one is compared with: `older` lies half a minute to a minute back, once there was time. */
export interface Trend {
  readonly older: Sample;
  readonly newer: Sample;
}

const STEP_MS = 30_000;
const LEAST_MS = 1_000;
const MINUTE_MS = 60_000;

/** Returns the trend after a look. */
export function nextTrend(trend: Trend | undefined, sample: Sample): Trend {
  if (trend === undefined) return { older: sample, newer: sample };
  return sample.at - trend.newer.at < STEP_MS ? trend : { older: trend.newer, newer: sample };
}

/** Returns the change per minute up to the sample; undefined within the first second. */
export function changePerMinute({ older }: Trend, { at, available }: Sample): number | undefined {
  const ms = at - older.at;
  return ms < LEAST_MS ? undefined : ((available - older.available) / ms) * MINUTE_MS;
}
