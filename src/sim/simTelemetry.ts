/** The Telemetry port in memory: what was logged and counted, for tests to look at. Bound: `maxLines` lines and an eighth more. */
import type { MetricName } from "../core/telemetry/metricTable.ts";
import type { Clock } from "../ports/clock.ts";
import type { LogFields, Logger, MetricLabels, Metrics, Telemetry } from "../ports/telemetry.ts";

/** One logged line. */
export interface SimLogLine {
  /** Virtual time in milliseconds. */
  readonly atMs: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** The port, and what came through it. */
export interface SimTelemetry extends Telemetry {
  /** Oldest first. */
  readonly lines: readonly SimLogLine[];
  /** Value of a counter or gauge, or how many observations a histogram has; 0 when never touched. */
  value(name: MetricName, labels?: MetricLabels): number;
  /** Sum of a histogram's observations, in its unit. */
  sum(name: MetricName, labels?: MetricLabels): number;
}

function seriesName(name: string, labels?: MetricLabels): string {
  if (labels === undefined) return name;
  const keys = Object.keys(labels);
  // Made for every sample: most have one label at most.
  if (keys.length > 1) keys.sort();
  let series = `${name}{`;
  for (const key of keys) series += `\n${key}=${labels[key]}`;
  return series;
}

/** Makes telemetry that keeps at least the last `maxLines` lines, and all series. */
export function createSimTelemetry(clock: Clock, maxLines = 100_000): SimTelemetry {
  const lines: SimLogLine[] = [];
  const values = new Map<string, number>();
  const sums = new Map<string, number>();
  const add = (to: Map<string, number>, series: string, by: number) => void to.set(series, (to.get(series) ?? 0) + by);

  const logger = (carried: LogFields): Logger => {
    const write =
      (level: SimLogLine["level"]) =>
      (message: string, fields: LogFields = {}) => {
        lines.push({ atMs: clock.monotonicMs(), level, message, fields: { ...carried, ...fields } });
        // In batches: shifting a long array costs its length.
        if (lines.length > maxLines + (maxLines >> 3)) lines.splice(0, lines.length - maxLines);
      };
    return {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      with: (fields) => logger({ ...carried, ...fields }),
    };
  };
  const metrics: Metrics = {
    count: (name, labels, by = 1) => add(values, seriesName(name, labels), by),
    gauge: (name, value, labels) => void values.set(seriesName(name, labels), value),
    dropGauge: (name, labels) => void values.delete(seriesName(name, labels)),
    drop(name, labels) {
      values.delete(seriesName(name, labels));
      sums.delete(seriesName(name, labels));
    },
    observe(name, value, labels) {
      add(values, seriesName(name, labels), 1);
      add(sums, seriesName(name, labels), value);
    },
  };
  return {
    log: logger({}),
    metrics,
    lines,
    value: (name, labels) => values.get(seriesName(name, labels)) ?? 0,
    sum: (name, labels) => sums.get(seriesName(name, labels)) ?? 0,
  };
}
