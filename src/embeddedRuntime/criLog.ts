/**
 * The log file of one container in CRI format: `<RFC 3339 nano> stdout F <line>`. Lines beyond 16 KiB and an unfinished
 * last line are tagged P, as in containerd. Bound: one unfinished line per stream, which is lost if the runtime is
 * killed. While the disk is full, output is dropped; the problem is reported once until writes succeed again.
 */
import fs from "node:fs";
import path from "node:path";
import { messageOf } from "../grpcServer/rpcFault.ts";
import { rfc3339Nano, wallClockNs } from "../criServer/wallClockNs.ts";
import { makeDirectoriesSync } from "../fileSystem/makeDirectories.ts";

export type LogStream = "stdout" | "stderr";

/** The log of one container. Writes are synchronous, which preserves the order of arrival. */
export interface CriLog {
  /** Appends output; the chunk may be reused when this returns. */
  write(stream: LogStream, chunk: Uint8Array): void;
  /** Ends the stream and writes an unfinished line as partial. */
  end(stream: LogStream): void;
  /** Reopens the path after log rotation moved the file away. */
  reopen(): void;
  close(): void;
}

/** Longest line in one entry, in bytes. */
export const MAX_LINE_BYTES = 16 * 1024;
const NEWLINE = 10;

/**
 * Opens the log for appending and creates its directory. An empty path discards the output. Throws if the file cannot
 * be opened.
 */
export function openCriLog(file: string, report: (problem: string) => void): CriLog {
  const unfinished: Record<LogStream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  let fd = openForAppend(file);
  let failing = false;
  const append = (bytes: Buffer): void => {
    if (fd === undefined || bytes.length === 0) return;
    try {
      let at = 0;
      while (at < bytes.length) at += fs.writeSync(fd, bytes, at);
      failing = false;
    } catch (thrown) {
      if (!failing) report(`log ${file}: output dropped: ${messageOf(thrown)}`);
      failing = true;
    }
  };
  return {
    write: (stream, chunk) => {
      if (fd === undefined) return;
      const entries = formatEntries(stream, unfinished[stream], chunk, rfc3339Nano(wallClockNs()));
      unfinished[stream] = entries.rest;
      append(entries.bytes);
    },
    end: (stream) => {
      const rest = unfinished[stream];
      unfinished[stream] = Buffer.alloc(0);
      if (rest.length === 0) return;
      append(Buffer.concat([Buffer.from(`${rfc3339Nano(wallClockNs())} ${stream} P `), rest, Buffer.from("\n")]));
    },
    reopen: () => {
      const next = openForAppend(file);
      if (fd !== undefined) fs.closeSync(fd);
      fd = next;
    },
    close: () => {
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
    },
  };
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

/** Opens a regular file only: a link could lead anywhere, and a FIFO would block the event loop. */
function openForAppend(file: string): number | undefined {
  if (file === "") return undefined;
  makeDirectoriesSync(path.dirname(file), 0o755);
  const fd = fs.openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o640);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw new Error(`${file} is not a regular file`);
}

/** Returns the complete entries of `rest` followed by `chunk`, and the remaining unfinished line (always a copy). */
export function formatEntries(
  stream: LogStream,
  rest: Uint8Array,
  chunk: Uint8Array,
  timestamp: string,
): { readonly bytes: Buffer; readonly rest: Buffer } {
  const data = rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : concat(rest, chunk);
  const cuts = lineCuts(data);
  const prefix = { full: Buffer.from(`${timestamp} ${stream} F `), partial: Buffer.from(`${timestamp} ${stream} P `) };
  const last = cuts.at(-1) ?? 0;
  // The two tags give prefixes of equal length. Every entry ends in a newline, so a split line gets one extra byte.
  const bytes = Buffer.allocUnsafe(last + cuts.length * (prefix.full.length + 1));
  let start = 0;
  let at = 0;
  for (const end of cuts) {
    const complete = data[end - 1] === NEWLINE;
    at += (complete ? prefix.full : prefix.partial).copy(bytes, at);
    at += data.copy(bytes, at, start, end);
    if (!complete) bytes[at++] = NEWLINE;
    start = end;
  }
  return { bytes: bytes.subarray(0, at), rest: Buffer.from(data.subarray(last)) };
}

const concat = (first: Uint8Array, second: Uint8Array): Buffer => Buffer.concat([first, second]);

/**
 * Returns the end offsets of the entries in `data`: after each newline, and after each `MAX_LINE_BYTES` of a longer
 * line.
 */
function lineCuts(data: Buffer): readonly number[] {
  const cuts: number[] = [];
  let start = 0;
  while (start < data.length) {
    const newline = data.indexOf(NEWLINE, start);
    const stop = newline === -1 ? data.length : newline;
    if (stop - start > MAX_LINE_BYTES) start += MAX_LINE_BYTES;
    else if (newline === -1) break;
    else start = newline + 1;
    cuts.push(start);
  }
  return cuts;
}
