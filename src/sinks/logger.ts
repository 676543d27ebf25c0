/**
 * The log: one line per entry, as JSON or klog-like text, to standard error or, with split streams, errors there and
 * the rest to standard output (sinks/logOutput.ts). Writes never throw. core/telemetry decides which values a line may
 * contain. Upstream: klog and component-base/logs.
 */
import type { VModuleItem } from "../core/config/kubeletConfiguration.ts";
import type { EpochMs } from "../core/ids.ts";
import { formatJsonLine, formatTextLine, type LogEntry } from "../core/telemetry/logLine.ts";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import { fileVerbosity } from "../core/telemetry/vmodule.ts";
import type { LeveledLogger, LogFields, Logger } from "../ports/telemetry.ts";
import { type LogOutput, standardError } from "./logOutput.ts";

export interface LoggerOptions {
  readonly format: "text" | "json";
  /** `-v`: see `VERBOSITY`. */
  readonly verbosity: number;
  /** Higher verbosities of single source files; default: none. */
  readonly vmodule?: readonly VModuleItem[];
  readonly wallTime: () => EpochMs;
  /** Default: all lines to standard error. */
  readonly output?: LogOutput;
  readonly processId?: number;
}

/**
 * Whether a line belongs on the error stream. As upstream, which routes text by its first letter and JSON by level:
 * warnings are errors in text and infos in JSON.
 */
const isError = (format: "text" | "json", level: LogEntry["level"]): boolean =>
  level === "error" || (level === "warn" && format === "text");

/** Creates a logger; loggers made by `with` share its output and verbosity. */
export function createLogger(options: LoggerOptions): LeveledLogger {
  const { format, verbosity, vmodule = [], wallTime, processId = process.pid } = options;
  const { errors, infos } = options.output ?? standardError();
  const render = (entry: LogEntry): string =>
    format === "json" ? formatJsonLine(entry) : formatTextLine(entry, processId);
  const write: Write = (entry) => {
    try {
      (isError(format, entry.level) ? errors : infos).write(render({ at: wallTime(), ...entry }));
    } catch {
      // A full disk or a closed pipe must not stop running pods.
    }
  };
  let current = verbosity;
  const ofFile = verbosityOf(vmodule);
  return {
    ...loggerWith(write, (file, needed) => current >= needed || ofFile(file) >= needed, {}),
    setVerbosity: (wanted) => {
      current = wanted;
    },
  };
}

/** Matches each file once. Bound: one entry per source file that logs. */
function verbosityOf(vmodule: readonly VModuleItem[]): (file: string) => number {
  if (vmodule.length === 0) return () => 0;
  const known = new Map<string, number>();
  return (file) => {
    const found = known.get(file) ?? fileVerbosity(vmodule, file);
    known.set(file, found);
    return found;
  };
}

type Write = (entry: Omit<LogEntry, "at">) => void;
type Shows = (file: string, verbosity: number) => boolean;

function loggerWith(write: Write, shows: Shows, own: LogFields): Logger {
  const all = (fields: LogFields | undefined): LogFields => (fields === undefined ? own : { ...own, ...fields });
  const log =
    (level: "info" | "warn" | "error") =>
    (message: string, fields?: LogFields): void =>
      write({ level, message, fields: all(fields) });
  return {
    debug: (file, message, fields) => {
      if (shows(file, VERBOSITY.debug)) write({ level: "debug", file, message, fields: all(fields) });
    },
    verbose: (file, verbosity, message, fields) => {
      if (shows(file, verbosity)) write({ level: "info", file, verbosity, message, fields: all(fields()) });
    },
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    with: (fields) => loggerWith(write, shows, { ...own, ...fields }),
  };
}
