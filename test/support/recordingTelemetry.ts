/** Telemetry that keeps logs and counts for assertions. */
import type { MetricLabels, Telemetry } from "../../src/ports/telemetry.ts";

export interface RecordedLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Telemetry whose lines and samples are read back: `lines` in order, `samples` as `name{labels}` to value, and the
 * observed values of histograms under the same names, in order.
 */
export function recordingTelemetry(): Telemetry & {
  readonly lines: readonly RecordedLine[];
  readonly samples: ReadonlyMap<string, number>;
  readonly observations: ReadonlyMap<string, readonly number[]>;
} {
  const lines: RecordedLine[] = [];
  const samples = new Map<string, number>();
  const observations = new Map<string, readonly number[]>();
  const key = (name: string, labels: MetricLabels = {}): string => {
    const inner = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return inner.length === 0 ? name : `${name}{${inner.join(",")}}`;
  };
  const add = (series: string, by: number): unknown => samples.set(series, (samples.get(series) ?? 0) + by);
  const logWith = (own: Readonly<Record<string, unknown>>): Telemetry["log"] => {
    const log =
      (level: RecordedLine["level"]) =>
      (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
        void lines.push({ level, message, fields: { ...own, ...fields } });
    return {
      debug: (_file, message, fields) => log("debug")(message, fields),
      verbose: () => {},
      info: log("info"),
      warn: log("warn"),
      error: log("error"),
      with: (fields) => logWith({ ...own, ...fields }),
    };
  };
  return {
    lines,
    samples,
    observations,
    log: logWith({}),
    metrics: {
      count: (name, labels, by = 1) => void add(key(name, labels), by),
      gauge: (name, value, labels) => void samples.set(key(name, labels), value),
      dropGauge: (name, labels) => void samples.delete(key(name, labels)),
      drop(name, labels) {
        samples.delete(key(name, labels));
        samples.delete(`${key(name, labels)} observed`);
      },
      observe(name, value, labels) {
        const series = key(name, labels);
        add(`${series} observed`, 1);
        observations.set(series, [...(observations.get(series) ?? []), value]);
      },
    },
  };
}
