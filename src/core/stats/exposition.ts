/**
 * The Prometheus text format for figures measured on each request. Metrics that the kubelet counts itself are in
 * `core/telemetry`. Upstream: prometheus.NewMetricWithTimestamp.
 */
import type { EpochMs } from "../ids.ts";

/** A sample of a family; omitted without a value. */
export interface Sample {
  /** Text from `labelText`; absent: none. */
  readonly labels?: string;
  readonly value: number | undefined;
  /** Absent: the time of the scrape. */
  readonly time?: EpochMs | undefined;
}

/** All series of one metric name. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

/** Formats the labels of a series, without the braces. */
export const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(",");

/** Formats a family; empty for a family without a value. */
export function familyText({ name, help, type, samples }: Family): string {
  let lines = "";
  for (const { labels = "", value, time } of samples) {
    if (value === undefined) continue;
    lines += `${name}${labels === "" ? "" : `{${labels}}`} ${value}${time === undefined ? "" : ` ${time}`}\n`;
  }
  return lines === "" ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
}

const NANO = 1e-9;
const NANO_DIGITS = 9;

/** Converts nanoseconds to seconds. */
export const secondsOf = (nanoSeconds: number | undefined): number | undefined =>
  nanoSeconds === undefined ? undefined : Number((nanoSeconds * NANO).toFixed(NANO_DIGITS));

const SPECIAL = /[\\"\n]/g;
const escaped = (text: string): string =>
  text.replaceAll(SPECIAL, (character) => (character === "\n" ? "\\n" : `\\${character}`));
