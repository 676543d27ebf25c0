/** Logs and metrics. Calls are synchronous, never throw and are cheap when disabled. */
import type { MetricPage } from "../core/telemetry/metricRow.ts";
import type { MetricName } from "../core/telemetry/metricTable.ts";
import type { Verbosity } from "../core/telemetry/verbosity.ts";

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes structured log lines. */
export interface Logger {
  /** Writes a line at verbosity `debug` or higher. `file` as in `verbose`. */
  debug(file: string, message: string, fields?: LogFields): void;
  /**
   * Writes a line at this verbosity or higher; `fields` is called only when the line is written. `file` is the name of
   * the calling source file without its ending, which the patterns of `vmodule` match: a bundle has no files to look up.
   */
  verbose(file: string, level: Verbosity, message: string, fields: () => LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
}

/** A logger whose verbosity can change at runtime; the change applies to all loggers derived from it. */
export interface LeveledLogger extends Logger {
  /** Sets the verbosity, as `-v` does: higher writes more. */
  setVerbosity(verbosity: number): void;
}

export type MetricLabels = Readonly<Record<string, string>>;

/** Updates metrics of the table. */
export interface Metrics {
  /** Adds to a counter. */
  count(name: MetricName, labels?: MetricLabels, by?: number): void;
  /** Sets a gauge. */
  gauge(name: MetricName, value: number, labels?: MetricLabels): void;
  /** Drops one labelled series of a gauge. */
  dropGauge(name: MetricName, labels: MetricLabels): void;
  /** Drops one labelled series of any type; succeeds when there is none. */
  drop(name: MetricName, labels: MetricLabels): void;
  /** Observes a value of a histogram, in the unit of the metric's name (seconds). */
  observe(name: MetricName, value: number, labels?: MetricLabels): void;
}

/** The metrics page for scrapers. */
export interface MetricsPage {
  /**
   * Reads the metrics that are collected on demand, then renders all series of a page, by default the main one. Never
   * rejects.
   */
  render(page?: MetricPage): Promise<string>;
}

export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
}
