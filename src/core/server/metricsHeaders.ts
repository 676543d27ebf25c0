/** Headers of all metrics pages. Upstream: HandlerFor of component-base's metrics over promhttp. */
import type { EpochMs } from "../ids.ts";

/** Media type of the Prometheus text format, with escaped names. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/** Returns the headers: media type and the start time of the counters. */
export const metricsHeaders = (startedAt: EpochMs): Readonly<Record<string, string>> => ({
  "content-type": METRICS_TYPE,
  "process-start-time-unix": String(Math.floor(startedAt / 1000)),
});
