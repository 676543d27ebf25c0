/** The context that all steps of reading a log share, and the reader of compressed files. */
import { toKubeletError } from "../../core/errors.ts";
import type { LogFormatter } from "../../core/logs/logFormatter.ts";
import type { SinceBound } from "../../core/logs/sinceBound.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LogReading } from "../../ports/containerLogs.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { LogFile, LogPlace } from "../../fileSystem/logFile.ts";
import type { LogPieces } from "./logPieces.ts";
import type { OpenLog } from "./openLog.ts";

/** The context of one reading. */
export interface LogContext {
  readonly place: LogPlace;
  readonly opened: OpenLog;
  readonly reading: LogReading;
  readonly isBefore: SinceBound | undefined;
  readonly formatter: LogFormatter;
  readonly pieces: LogPieces;
  /** Aborted when the client stops reading. */
  readonly reader: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reads a compressed file up to its end or the first damage, which is logged. */
export async function* readCompressed(
  { pieces, formatter, reading, log }: LogContext,
  file: LogFile,
  skippedLines = 0,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces.compressed(file, skippedLines);
  } catch (thrown) {
    const error = toKubeletError(thrown);
    log.warn("Cannot read all of a rotated container log", { logger: "containerLogs", path: reading.path, error });
  }
  formatter.startFile();
}
