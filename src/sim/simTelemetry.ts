/** The Telemetry port in memory, which lets tests read logs and metrics. Bound: `maxLines` lines and an eighth more. */
import type { MetricName } from "../core/telemetry/metricTable.ts";
import type { Clock } from "../ports/clock.ts";
import type { LogFields, Logger, MetricLabels, Metrics, Telemetry } from "../ports/telemetry.ts";

/** A log line. */
export interface SimLogLine {
  /** Virtual time in milliseconds. */
  readonly atMs: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** The port and its recorded data. */
export interface SimTelemetry extends Telemetry {
  /** Oldest first. */
  readonly lines: readonly SimLogLine[];
  /** Returns the value of a counter or gauge, or the number of observations of a histogram; 0 without samples. */
  value(name: MetricName, labels?: MetricLabels): number;
  /** Returns the sum of a histogram's observations, in its unit. */
  sum(name: MetricName, labels?: MetricLabels): number;
}

/** Values of series: by metric, then by label values, whose names the metric defines. */
class SeriesTable {
  private readonly bare = new Map<string, number>();
  private readonly labelled = new Map<string, Map<string, number>>();

  get(name: string, labels: MetricLabels | undefined): number {
    return this.of(name, labels)?.get(keyOf(name, labels)) ?? 0;
  }

  set(name: string, labels: MetricLabels | undefined, value: number): void {
    let series = this.of(name, labels);
    if (series === undefined) {
      series = new Map();
      this.labelled.set(name, series);
    }
    series.set(keyOf(name, labels), value);
  }

  delete(name: string, labels: MetricLabels | undefined): void {
    this.of(name, labels)?.delete(keyOf(name, labels));
  }

  private of(name: string, labels: MetricLabels | undefined): Map<string, number> | undefined {
    return labels === undefined ? this.bare : this.labelled.get(name);
  }
}

function keyOf(name: string, labels: MetricLabels | undefined): string {
  if (labels === undefined) return name;
  const names = Object.keys(labels);
  const [first = ""] = names;
  // Called for every sample: most have at most one label.
  if (names.length === 1) return labels[first] ?? "";
  let key = "";
  for (const label of names.sort()) key += `${labels[label]}\n`;
  return key;
}

/** Creates telemetry that keeps at least the last `maxLines` lines, and all series. */
export function createSimTelemetry(clock: Clock, maxLines = 100_000): SimTelemetry {
  const lines: SimLogLine[] = [];
  const values = new SeriesTable();
  const sums = new SeriesTable();
  const add = (to: SeriesTable, name: MetricName, labels: MetricLabels | undefined, by: number) =>
    to.set(name, labels, to.get(name, labels) + by);

  const logger = (carried: LogFields): Logger => {
    const write =
      (level: SimLogLine["level"]) =>
      (message: string, fields: LogFields = {}) => {
        lines.push({ atMs: clock.monotonicMs(), level, message, fields: { ...carried, ...fields } });
        // Trim in batches: shifting a long array costs its length.
        if (lines.length > maxLines + (maxLines >> 3)) lines.splice(0, lines.length - maxLines);
      };
    return {
      debug: (_file, message, fields) => write("debug")(message, fields),
      // The trace contains all events.
      verbose: () => {},
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      with: (fields) => logger({ ...carried, ...fields }),
    };
  };
  const metrics: Metrics = {
    count: (name, labels, by = 1) => add(values, name, labels, by),
    gauge: (name, value, labels) => values.set(name, labels, value),
    dropGauge: (name, labels) => values.delete(name, labels),
    drop(name, labels) {
      values.delete(name, labels);
      sums.delete(name, labels);
    },
    observe(name, value, labels) {
      add(values, name, labels, 1);
      add(sums, name, labels, value);
    },
  };
  return {
    log: logger({}),
    metrics,
    lines,
    value: (name, labels) => values.get(name, labels),
    sum: (name, labels) => sums.get(name, labels),
  };
}
