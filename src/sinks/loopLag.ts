/**
 * Event loop lag as a cumulative histogram. Node's own sampler collects it; each scrape adds the samples since the
 * last one to our buckets, so that counts only grow. Bound: one fixed-size histogram, regardless of the scrape
 * interval.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricRow } from "../core/telemetry/metricRow.ts";

/** Ten samples a second: cheap on an idle node, and enough to see every relevant stall. */
const RESOLUTION_MS = 100;
const NANOS_PER_SECOND = 1e9;

/** Counts per bucket (not cumulative, the last bucket is unbounded) and the sum in seconds. */
export interface LagTotals {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Samples since the last scrape: `percentiles` ascending, values in nanoseconds since the start of the wait. */
export interface LagSample {
  readonly count: number;
  readonly percentiles: readonly (readonly [percentile: number, nanos: number])[];
}

/** Adds a sample to the totals: each step between percentiles counts for the items between them. */
export function addLag(totals: LagTotals, sample: LagSample, bounds: readonly number[], baseNanos: number): LagTotals {
  const counts = [...totals.counts];
  let sum = totals.sum;
  let seen = 0;
  for (const [percentile, nanos] of sample.percentiles) {
    const upTo = Math.round((percentile / 100) * sample.count);
    if (upTo <= seen) continue;
    const lag = Math.max(0, nanos - baseNanos) / NANOS_PER_SECOND;
    const index = bounds.findIndex((bound) => lag <= bound);
    const bucket = index < 0 ? bounds.length : index;
    counts[bucket] = (counts[bucket] ?? 0) + (upTo - seen);
    sum += lag * (upTo - seen);
    seen = upTo;
  }
  return { counts, sum };
}

export interface LoopLag {
  /** Current totals. */
  read(): LagTotals;
  /** Stops sampling. */
  stop(): void;
}

/** Starts sampling with the bucket bounds of the metric's row. */
export function watchLoopLag(row: MetricRow): LoopLag {
  const bounds = row.buckets ?? [];
  const sampler = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  sampler.enable();
  let totals: LagTotals = { counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
  return {
    read: () => {
      const sample = { count: sampler.count, percentiles: [...sampler.percentiles] };
      sampler.reset();
      totals = addLag(totals, sample, bounds, RESOLUTION_MS * 1e6);
      return totals;
    },
    stop: () => sampler.disable(),
  };
}
