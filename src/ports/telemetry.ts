/** Logs and metrics. Synchronous, never throwing, cheap when disabled. */
import type { MetricPage } from "../core/telemetry/metricRow.ts";
import type { MetricName } from "../core/telemetry/metricTable.ts";
import type { Verbosity } from "../core/telemetry/verbosity.ts";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  /** A line from this verbosity on; its fields are asked for only when it is written. */
  verbose(level: Verbosity, message: string, fields: () => LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose lines carry these fields too. */
  with(fields: LogFields): Logger;
}

/** A logger that can be told to say more or less from now on, it and all made of it. */
export interface LeveledLogger extends Logger {
  /** As `-v`: higher says more. */
  setVerbosity(verbosity: number): void;
}

export type MetricLabels = Readonly<Record<string, string>>;

export interface Metrics {
  /** Adds to a counter. */
  count(name: MetricName, labels?: MetricLabels, by?: number): void;
  /** Sets a gauge. */
  gauge(name: MetricName, value: number, labels?: MetricLabels): void;
  /** Drops one labelled series of a gauge. */
  dropGauge(name: MetricName, labels: MetricLabels): void;
  /** Drops one labelled series, whatever its type; one that is not there is fine. */
  drop(name: MetricName, labels: MetricLabels): void;
  /** Observes into a histogram, in the unit of its name (seconds). */
  observe(name: MetricName, value: number, labels?: MetricLabels): void;
}

/** The metrics as a page for a scraper. */
export interface MetricsPage {
  /** Reads what is only read on demand, then prints every series of a page, by default the main one. Never rejects. */
  render(page?: MetricPage): Promise<string>;
}

export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
}
