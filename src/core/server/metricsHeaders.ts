/** Headers of every page of metrics. Counterpart: HandlerFor of component-base's metrics over promhttp. */
import type { EpochMs } from "../ids.ts";

/** Type of the Prometheus text format; names that are not plain come escaped. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/** Its type, and since when its counters count. */
export const metricsHeaders = (startedAt: EpochMs): Readonly<Record<string, string>> => ({
  "content-type": METRICS_TYPE,
  "process-start-time-unix": String(Math.floor(startedAt / 1000)),
});
