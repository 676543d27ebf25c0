/**
 * Reads files of a log in pieces and formats them. Bound: one buffer, which grows and shrinks with the pieces up to 256
 * KiB, so that an idle follower holds little memory.
 */
import { type LogFormatter, prefixLengthFor } from "../../core/logs/logFormatter.ts";
import { decompressed, type LogFile } from "../../fileSystem/logFile.ts";
import type { LineConverter } from "./dockerLines.ts";

const SMALLEST_BYTES = 16 * 1024;
const LARGEST_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface LogPieces {
  /**
   * Reads from `position` up to `to`, and advances `position`. Ends early after a partial piece unless `isWhole`: the
   * rest of a growing file is not worth a read of its own.
   */
  plain(
    file: LogFile,
    position: { offset: number },
    bounds?: { readonly to?: number; readonly isWhole?: boolean },
  ): AsyncGenerator<Uint8Array>;
  /** Reads a compressed file without its first lines. Throws at the first damage. */
  compressed(file: LogFile, skippedLines: number): AsyncGenerator<Uint8Array>;
}

/**
 * Creates the readers of one log; they stop when the formatter is full or the client has gone. `convert` makes entries
 * of CRI of logs in another format.
 */
export function createLogPieces(formatter: LogFormatter, reader: AbortSignal, convert?: LineConverter): LogPieces {
  let size = SMALLEST_BYTES;
  let buffer = Buffer.allocUnsafe(0);
  const isOver = (): boolean => formatter.isFull || reader.aborted;
  const resize = (bytesRead: number): void => {
    if (bytesRead === size) size = Math.min(size * 4, LARGEST_BYTES);
    else if (bytesRead < size / 16) size = Math.max(size / 4, SMALLEST_BYTES);
  };
  return {
    async *plain({ handle, identity }, position, { to = Number.POSITIVE_INFINITY, isWhole = false } = {}) {
      while (position.offset < to && !isOver()) {
        const prefixLength = prefixLengthFor(size);
        if (buffer.length !== prefixLength + size) buffer = Buffer.allocUnsafe(prefixLength + size);
        const wanted = Math.min(size, to - position.offset);
        const { bytesRead } = await handle.read(buffer, prefixLength, wanted, position.offset);
        if (bytesRead === 0) return;
        position.offset += bytesRead;
        if (convert !== undefined) {
          const made = formatted(convert(identity, buffer.subarray(prefixLength, prefixLength + bytesRead)), formatter);
          resize(bytesRead);
          if (made.length > 0) yield made;
          if (bytesRead < wanted && !isWhole) return;
          continue;
        }
        const length = formatter.format(buffer, prefixLength, prefixLength + bytesRead);
        resize(bytesRead);
        if (length > 0) yield Uint8Array.prototype.slice.call(buffer, 0, length);
        if (bytesRead < wanted && !isWhole) return;
      }
    },
    async *compressed(file, skippedLines) {
      let left = skippedLines;
      for await (const piece of decompressed(file)) {
        if (isOver()) return;
        let from = 0;
        for (; left > 0 && from < piece.length; left--) {
          const newline = piece.indexOf(NEWLINE, from);
          if (newline === -1) break;
          from = newline + 1;
        }
        if (left > 0) continue;
        const rest = piece.subarray(from);
        const made = formatted(convert === undefined ? rest : convert(file.identity, rest), formatter);
        if (made.length > 0) yield made;
      }
    },
  };
}

/** Formats bytes in a buffer of their own. */
function formatted(content: Uint8Array, formatter: LogFormatter): Uint8Array {
  const prefixLength = prefixLengthFor(content.length);
  const bytes = Buffer.allocUnsafe(prefixLength + content.length);
  bytes.set(content, prefixLength);
  return bytes.subarray(0, formatter.format(bytes, prefixLength, bytes.length));
}
