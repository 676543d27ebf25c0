/**
 * The Prometheus text format, for figures that are measured when a page is asked for and kept by nobody. What is counted
 * by the kubelet itself is in `core/telemetry`. Counterpart: prometheus.NewMetricWithTimestamp.
 */
import type { EpochMs } from "../ids.ts";

/** One figure of a family; without a value nothing is shown. */
export interface Sample {
  /** As `labelText` makes them; absent: none. */
  readonly labels?: string;
  readonly value: number | undefined;
  /** Absent: as of the scrape. */
  readonly time?: EpochMs | undefined;
}

/** All series of one name. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

/** What is between the braces of a series. */
export const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(",");

/** Nothing for a family without a figure. */
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

/** Nanoseconds as the seconds that metrics have. */
export const secondsOf = (nanoSeconds: number | undefined): number | undefined =>
  nanoSeconds === undefined ? undefined : Number((nanoSeconds * NANO).toFixed(NANO_DIGITS));

const SPECIAL = /[\\"\n]/g;
const escaped = (text: string): string =>
  text.replaceAll(SPECIAL, (character) => (character === "\n" ? "\\n" : `\\${character}`));
