/**
 * The log: one line per entry to standard error, in JSON or klog-like text. Writes are synchronous, so that the last
 * line before an exit is not lost; they never throw. What may appear in a line is decided in core/telemetry.
 * Upstream: klog and component-base/logs.
 */
import { pino } from "pino";
import type { EpochMs } from "../core/ids.ts";
import {
  DEBUG_VERBOSITY,
  formatJsonLine,
  formatTextLine,
  type LogEntry,
  type LogLevel,
} from "../core/telemetry/logLine.ts";
import type { LeveledLogger, LogFields, Logger } from "../ports/telemetry.ts";

/** Takes one finished line, line break included. */
export interface LogDestination {
  write(line: string): unknown;
}

export interface LoggerOptions {
  readonly format: "text" | "json";
  /** `-v`: debug lines are written from 4 on. */
  readonly verbosity: number;
  readonly wallTime: () => EpochMs;
  /** Standard error when absent. */
  readonly destination?: LogDestination;
  readonly processId?: number;
}

/** Standard error without buffering. A reader that went away (EPIPE) silences the log, it does not end the kubelet. */
function standardError(): LogDestination {
  const destination = pino.destination({ dest: 2, sync: true });
  destination.on("error", () => undefined);
  return destination;
}

/** A logger; loggers made by `with` share its destination and verbosity. */
export function createLogger(options: LoggerOptions): LeveledLogger {
  const { format, verbosity, wallTime, destination = standardError(), processId = process.pid } = options;
  const render = (entry: LogEntry): string =>
    format === "json" ? formatJsonLine(entry) : formatTextLine(entry, processId);
  const write = (level: LogLevel, message: string, fields: LogFields): void => {
    try {
      destination.write(render({ at: wallTime(), level, message, fields }));
    } catch {
      // A full disk or a closed pipe is no reason to stop running pods.
    }
  };
  let current = verbosity;
  const showsDebug = (): boolean => current >= DEBUG_VERBOSITY;
  return {
    ...loggerWith(write, showsDebug, {}),
    setVerbosity: (wanted) => {
      current = wanted;
    },
  };
}

type Write = (level: LogLevel, message: string, fields: LogFields) => void;

function loggerWith(write: Write, showsDebug: () => boolean, own: LogFields): Logger {
  const log =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void =>
      write(level, message, fields === undefined ? own : { ...own, ...fields });
  return {
    debug: (message, fields) => {
      if (showsDebug()) log("debug")(message, fields);
    },
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    with: (fields) => loggerWith(write, showsDebug, { ...own, ...fields }),
  };
}
