/**
 * Finds the position at which reading starts for `tailLines` and `since`, searching backwards from the end of the log,
 * so that older content is not read. Compressed files are read from their start. Bound: one block in memory. Upstream:
 * findTailLineStartIndex.
 */
import { emptyHeader, readCriHeader } from "../../core/logs/criHeader.ts";
import type { SinceBound } from "../../core/logs/sinceBound.ts";
import { decompressed, type LogFile } from "../../fileSystem/logFile.ts";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** A position in a list of files. */
export interface LogStart {
  /** Index of the file. */
  readonly index: number;
  /** Bytes to skip; 0 in a compressed file. */
  readonly offset: number;
  /** Entries to skip after that. */
  readonly skippedLines: number;
}

/** Files of a log, oldest first. */
export interface SearchedFiles {
  readonly count: number;
  /** Runs `use` with the open file; resolves with undefined if the file was removed or cannot be read. */
  with<T>(index: number, use: (file: LogFile, size: number) => Promise<T>): Promise<T | undefined>;
}

/** Returns the start of the last `lines` entries. An unterminated entry does not count, as in upstream. */
export async function startOfTail(files: SearchedFiles, lines: number): Promise<LogStart> {
  let wanted = lines;
  for (let index = files.count - 1; index >= 0; index--) {
    const found = await files.with(index, async (file, size): Promise<LogStart | number> => {
      if (!file.isCompressed) {
        const { offset, count } = await lastLines(file, size, wanted);
        return count < wanted ? count : { index, offset, skippedLines: 0 };
      }
      const count = await countLines(file);
      return count < wanted ? count : { index, offset: 0, skippedLines: count - wanted };
    });
    if (typeof found === "object") return found;
    wanted -= found ?? 0;
  }
  return { index: 0, offset: 0, skippedLines: 0 };
}

/** Returns a start that skips no entry since the instant and most entries before it. */
export async function startOfSince(files: SearchedFiles, isBefore: SinceBound): Promise<LogStart> {
  for (let index = files.count - 1; index >= 0; index--) {
    const found = await files.with(index, async (file, size) =>
      file.isCompressed ? ((await beginsBefore(file, isBefore)) ? 0 : undefined) : blockBefore(file, size, isBefore),
    );
    if (found !== undefined) return { index, offset: found, skippedLines: 0 };
  }
  return { index: 0, offset: 0, skippedLines: 0 };
}

/** Returns the later of two starts. */
export function laterStart(a: LogStart, b: LogStart): LogStart {
  const order = a.index - b.index || a.offset - b.offset || a.skippedLines - b.skippedLines;
  return order < 0 ? b : a;
}

/** Returns the position of the last `wanted` lines and their number; fewer if the file has fewer. */
async function lastLines(
  file: LogFile,
  size: number,
  wanted: number,
): Promise<{ readonly offset: number; readonly count: number }> {
  let count = -1;
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const block = await readBlock(file, from, end);
    for (let at = block.length; at > 0; ) {
      at = block.lastIndexOf(NEWLINE, at - 1);
      if (at === -1) break;
      count += 1;
      if (count === wanted) return { offset: from + at + 1, count };
    }
    end = from;
  }
  // Every newline but the last ends a line before another one.
  return { offset: 0, count: count + 1 };
}

/** Returns the start of the last block that begins with an entry before the instant; undefined if no block does. */
async function blockBefore(file: LogFile, size: number, isBefore: SinceBound): Promise<number | undefined> {
  const header = emptyHeader();
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const block = await readBlock(file, from, end);
    for (let at = from === 0 ? 0 : block.indexOf(NEWLINE) + 1; at < block.length; ) {
      if (from !== 0 && at === 0) break;
      if (readCriHeader(block, at, block.length, header) === "whole") {
        if (isBefore(block, at, header)) return from + at;
        break;
      }
      const newline = block.indexOf(NEWLINE, at);
      if (newline === -1) break;
      at = newline + 1;
    }
    end = from;
  }
  return undefined;
}

async function beginsBefore(file: LogFile, isBefore: SinceBound): Promise<boolean> {
  const header = emptyHeader();
  for await (const piece of decompressed(file)) {
    return readCriHeader(piece, 0, piece.length, header) === "whole" && isBefore(piece, 0, header);
  }
  return false;
}

async function countLines(file: LogFile): Promise<number> {
  let count = 0;
  for await (const piece of decompressed(file)) {
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1)) count += 1;
  }
  return count;
}

/** Reads the bytes from `from` to `end`; fewer if the file was truncated meanwhile. */
async function readBlock({ handle }: LogFile, from: number, end: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(end - from);
  let length = 0;
  while (length < block.length) {
    const { bytesRead } = await handle.read(block, length, block.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return block.subarray(0, length);
}
