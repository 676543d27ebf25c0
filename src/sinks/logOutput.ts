/**
 * Streams of the log. Writes to the descriptors are synchronous, so that the last line before an exit is not lost; a
 * buffer of infos is flushed when it is full, at intervals, and when the process exits. Upstream: the factories of
 * component-base/logs for text and JSON.
 */
import { pino } from "pino";
import type { LoggingConfiguration } from "../core/config/kubeletConfiguration.ts";
import { parseQuantity, quantityValue } from "../core/quantity.ts";

/** Writes one finished line, including its line break. */
export interface LogDestination {
  write(line: string): unknown;
}

/** Where the lines of a log go. */
export interface LogOutput {
  readonly errors: LogDestination;
  readonly infos: LogDestination;
  /** Writes what is buffered; absent: nothing is. */
  readonly flush?: () => void;
}

/** Differs from upstream, whose bound is 2 GiB: a text of Node cannot be longer than half a gibibyte. */
export const MAX_BUFFER_BYTES = 256 * 1024 * 1024;

const STDOUT = 1;
const STDERR = 2;

/** Writes to a descriptor without buffering. A closed reader (EPIPE) silences the log and does not end the kubelet. */
function descriptor(dest: typeof STDOUT | typeof STDERR): LogDestination {
  const destination = pino.destination({ dest, sync: true });
  destination.on("error", () => undefined);
  return destination;
}

/** Returns an output with one destination for all lines. */
export const toOne = (destination: LogDestination): LogOutput => ({ errors: destination, infos: destination });

/** Returns the usual output: all lines to standard error. */
export const standardError = (): LogOutput => toOne(descriptor(STDERR));

/**
 * Returns the output of a configuration: standard error, or with `splitStream` errors to standard error and infos to
 * standard output, through a buffer of `infoBufferSize` bytes. As upstream, only the options of the chosen format count.
 */
export function logOutput({ format, options }: Pick<LoggingConfiguration, "format" | "options">): LogOutput {
  const { splitStream, infoBufferSize } = options[format === "json" ? "json" : "text"];
  if (!splitStream) return standardError();
  const errors = descriptor(STDERR);
  const infos = descriptor(STDOUT);
  const quantity = parseQuantity(infoBufferSize);
  const size = quantity === undefined ? 0 : Math.min(Number(quantityValue(quantity)), MAX_BUFFER_BYTES);
  if (size <= 0) return { errors, infos };
  const buffered = bufferLines(infos, size);
  process.on("exit", () => buffered.flush());
  return { errors, infos: buffered, flush: () => buffered.flush() };
}

/**
 * Collects whole lines and writes them together: before a line that no longer fits, or at `flush`. A line longer than
 * the buffer is written at once, after it. Bound: `size` bytes.
 */
export function bufferLines(
  destination: LogDestination,
  size: number,
): LogDestination & { readonly flush: () => void } {
  let lines: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (bytes === 0) return;
    const text = lines.join("");
    lines = [];
    bytes = 0;
    destination.write(text);
  };
  return {
    write(line) {
      const length = Buffer.byteLength(line);
      if (bytes + length > size) flush();
      if (length > size) {
        destination.write(line);
        return;
      }
      lines.push(line);
      bytes += length;
    },
    flush,
  };
}
