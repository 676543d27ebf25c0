/** The logs of containers, as bytes that whoever reads them takes at his own pace. */
import type { LogStream, PodLogOptions } from "../core/logs/podLogOptions.ts";
import type { Call } from "./call.ts";

/** One reading of one log. */
export interface LogReading extends Pick<PodLogOptions, "timestamps" | "since" | "tailLines" | "limitBytes"> {
  /** The file being written, as the runtime has it. */
  readonly path: string;
  /** undefined: both. */
  readonly stream: LogStream | undefined;
  /** Goes on with what is written from now on, until this says that the container has ended; undefined: does not. */
  readonly untilEnded: AbortSignal | undefined;
}

export interface ContainerLogs {
  /**
   * Opens the log, rotated files included. Its bytes are read as they are taken and never further: whoever takes none
   * costs none. Cancelling the stream closes everything. NotFound without a log, PermissionDenied for a file that is
   * not the runtime's.
   */
  open(reading: LogReading): Call<ReadableStream<Uint8Array>>;
}
