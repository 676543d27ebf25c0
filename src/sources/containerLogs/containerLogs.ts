/**
 * The ContainerLogs port: one byte stream through all files of a log, rotated (compressed or not) and current. Owns its
 * open files. Bounds: one piece of 256 KiB in memory, three open files.
 * Differs from upstream, which reads only the current file and loses lines written to it after its rotation.
 */
import { createLogFormatter } from "../../core/logs/logFormatter.ts";
import { toKubeletError } from "../../core/errors.ts";
import { sinceBound } from "../../core/logs/sinceBound.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ContainerLogs, LogReading } from "../../ports/containerLogs.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { logPlace } from "../../fileSystem/logFile.ts";
import { createDockerLines } from "./dockerLines.ts";
import { createLogPieces } from "./logPieces.ts";
import { openLog, type OpenLog } from "./openLog.ts";
import { readLog } from "./readLog.ts";

export interface ContainerLogsOptions {
  /** Directory of the logs of all pods. */
  readonly podLogsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Creates the port for the logs below one directory. */
export const createContainerLogs = (options: ContainerLogsOptions): ContainerLogs => ({
  open: (reading) => fromCall((signal) => open(options, reading, signal)),
});

async function open(
  { podLogsDir, clock, log }: ContainerLogsOptions,
  reading: LogReading,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const place = await logPlace(podLogsDir, reading.path);
  const opened = await openLog(place);
  if (signal.aborted) await opened.close();
  const { timestamps, stream, limitBytes, since } = reading;
  const isBefore = since === undefined ? undefined : sinceBound(since);
  const formatter = createLogFormatter({ timestamps, stream, limitBytes, isBefore });
  const reader = new AbortController();
  const pieces = createLogPieces(formatter, reader.signal, place.isDockers ? createDockerLines() : undefined);
  const bytes = readLog({ place, opened, formatter, pieces, isBefore, reading, reader: reader.signal, clock, log });
  return streamOf(bytes, opened, () => {
    reader.abort();
    if (formatter.malformed === 0) return;
    log.warn("Skipped malformed entries of a container log", {
      logger: "containerLogs",
      path: reading.path,
      entries: formatter.malformed,
    });
  });
}

/** Returns the stream, which reads each piece when its reader pulls it and never ahead. */
function streamOf(bytes: AsyncGenerator<Uint8Array>, opened: OpenLog, ended: () => void): ReadableStream<Uint8Array> {
  const end = async (): Promise<void> => {
    ended();
    // The current read ends first.
    await bytes.return(undefined);
    await opened.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await bytes.next();
          if (done !== true) return controller.enqueue(value);
          await end();
          controller.close();
        } catch (thrown) {
          await end();
          controller.error(toKubeletError(thrown));
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
