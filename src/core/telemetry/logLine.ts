/**
 * Formats a log entry as one line: JSON (fields of upstream's JSON format) or text in klog's structured format. Pure:
 * the entry contains its time. A line contains no raw line break, except in stacks, which follow indented.
 */
import type { EpochMs } from "../ids.ts";
import { civilTime, padded } from "../time/civilTime.ts";
import { type PlainValue, plainFields, safeText } from "./plainValue.ts";
import { VERBOSITY } from "./verbosity.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** An entry of the log before formatting. */
export interface LogEntry {
  readonly at: EpochMs;
  readonly level: LogLevel;
  /** The verbosity at which it is written; absent: that of its level. */
  readonly verbosity?: number;
  /** Name of the source file that writes lines of a verbosity, without its ending; absent: the line has no verbosity. */
  readonly file?: string;
  readonly message: string;
  /** `logger` names the component that wrote the entry. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const SEVERITY: Readonly<Record<LogLevel, string>> = { debug: "I", info: "I", warn: "W", error: "E" };
const RESERVED = new Set(["ts", "level", "v", "msg"]);

/** Returns the stack of an Error that is logged as an error; stacks are for bugs only. */
function stackOf(entry: LogEntry): string | undefined {
  if (entry.level !== "error") return undefined;
  const found = Object.values(entry.fields).find((value) => value instanceof Error);
  return found instanceof Error && found.stack !== undefined ? safeText(found.stack) : undefined;
}

/**
 * `{"ts":1580306777046.728,"level":"info","v":0,"msg":"...", ...fields}`: `ts` in milliseconds with fraction, `v` the
 * verbosity (none on errors). A field named like one of these gets a trailing underscore.
 */
export function formatJsonLine(entry: LogEntry): string {
  const verbosity =
    entry.level === "error" ? {} : { v: entry.verbosity ?? (entry.level === "debug" ? VERBOSITY.debug : 0) };
  const stack = stackOf(entry);
  const fields = plainFields(entry.fields).map(([key, value]) => [RESERVED.has(key) ? `${key}_` : key, value] as const);
  return `${JSON.stringify({
    ts: entry.at,
    level: entry.level,
    ...verbosity,
    msg: safeText(entry.message),
    ...Object.fromEntries(fields),
    ...(stack === undefined ? {} : { errorVerbose: stack }),
  })}\n`;
}

/**
 * `I0102 15:04:05.000000    1234 podWorker] "Message" pod="default/web" attempt=1`.
 * Differs from upstream: times are UTC, and the place is the source file of a line with a verbosity, else the name of
 * the logger, since finding file and line costs a stack per line.
 */
export function formatTextLine(entry: LogEntry, processId: number): string {
  const t = civilTime(entry.at);
  const day = `${padded(t.month, 2)}${padded(t.day, 2)}`;
  const time = `${padded(t.hour, 2)}:${padded(t.minute, 2)}:${padded(t.second, 2)}.${padded(t.micros, 6)}`;
  const { logger, ...fields } = entry.fields;
  const named = typeof logger === "string" && logger !== "" ? logger : "rxlet";
  const place = entry.file ?? named;
  const head = `${SEVERITY[entry.level]}${day} ${time} ${String(processId).padStart(7)} ${place}]`;
  const pairs = plainFields(fields).map(([key, value]) => ` ${key}=${textOf(value)}`);
  const stack = stackOf(entry);
  const trailer = stack === undefined ? "" : `\n${stack.replace(/^/gm, "\t")}`;
  return `${head} ${JSON.stringify(safeText(entry.message))}${pairs.join("")}${trailer}\n`;
}

/** Text is quoted, references to objects print as "namespace/name", the rest as JSON. */
function textOf(value: PlainValue): string {
  if (typeof value === "object" && value !== null && "namespace" in value && "name" in value) {
    const { namespace, name } = value;
    if (Object.keys(value).length === 2 && typeof namespace === "string" && typeof name === "string") {
      return JSON.stringify(namespace === "" ? name : `${namespace}/${name}`);
    }
  }
  return JSON.stringify(value);
}
