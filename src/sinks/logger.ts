/**
 * The log: one line per entry to standard error, as JSON or klog-like text. Writes are synchronous, so that the last
 * line before an exit is not lost, and never throw. core/telemetry decides which values a line may contain. Upstream:
 * klog and component-base/logs.
 */
import { pino } from "pino";
import type { EpochMs } from "../core/ids.ts";
import { formatJsonLine, formatTextLine, type LogEntry, type LogLevel } from "../core/telemetry/logLine.ts";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import type { LeveledLogger, LogFields, Logger } from "../ports/telemetry.ts";

/** Writes one finished line, including its line break. */
export interface LogDestination {
  write(line: string): unknown;
}

export interface LoggerOptions {
  readonly format: "text" | "json";
  /** `-v`: see `VERBOSITY`. */
  readonly verbosity: number;
  readonly wallTime: () => EpochMs;
  /** Default: standard error. */
  readonly destination?: LogDestination;
  readonly processId?: number;
}

/**
 * Writes to standard error without buffering. A closed reader (EPIPE) silences the log and does not end the kubelet.
 */
function standardError(): LogDestination {
  const destination = pino.destination({ dest: 2, sync: true });
  destination.on("error", () => undefined);
  return destination;
}

/** Creates a logger; loggers made by `with` share its destination and verbosity. */
export function createLogger(options: LoggerOptions): LeveledLogger {
  const { format, verbosity, wallTime, destination = standardError(), processId = process.pid } = options;
  const render = (entry: LogEntry): string =>
    format === "json" ? formatJsonLine(entry) : formatTextLine(entry, processId);
  const write: Write = (level, message, fields, needs) => {
    try {
      destination.write(
        render({ at: wallTime(), level, message, fields, ...(needs === undefined ? {} : { verbosity: needs }) }),
      );
    } catch {
      // A full disk or a closed pipe must not stop running pods.
    }
  };
  let current = verbosity;
  return {
    ...loggerWith(write, (needed) => current >= needed, {}),
    setVerbosity: (wanted) => {
      current = wanted;
    },
  };
}

type Write = (level: LogLevel, message: string, fields: LogFields, verbosity?: number) => void;

function loggerWith(write: Write, shows: (verbosity: number) => boolean, own: LogFields): Logger {
  const log =
    (level: LogLevel, verbosity?: number) =>
    (message: string, fields?: LogFields): void =>
      write(level, message, fields === undefined ? own : { ...own, ...fields }, verbosity);
  return {
    debug: (message, fields) => {
      if (shows(VERBOSITY.debug)) log("debug")(message, fields);
    },
    verbose: (level, message, fields) => {
      if (shows(level)) log("info", level)(message, fields());
    },
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    with: (fields) => loggerWith(write, shows, { ...own, ...fields }),
  };
}
