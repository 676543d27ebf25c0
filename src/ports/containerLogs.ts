/** Container logs as byte streams with back-pressure. */
import type { LogStream, PodLogOptions } from "../core/logs/podLogOptions.ts";
import type { Call } from "./call.ts";

/** Options of one read of one log. */
export interface LogReading extends Pick<PodLogOptions, "timestamps" | "since" | "tailLines" | "limitBytes"> {
  /** The current log file, as the runtime reports it. */
  readonly path: string;
  /** undefined means both streams. */
  readonly stream: LogStream | undefined;
  /** Follows the log until this signal reports that the container has ended; undefined: does not follow. */
  readonly untilEnded: AbortSignal | undefined;
}

export interface ContainerLogs {
  /**
   * Opens the log, rotated files included. Reads bytes only as the reader takes them, so an idle reader costs nothing.
   * Cancelling the stream closes all files. Errors: NotFound when there is no log, PermissionDenied for a file outside
   * the runtime's log directory.
   */
  open(reading: LogReading): Call<ReadableStream<Uint8Array>>;
}
