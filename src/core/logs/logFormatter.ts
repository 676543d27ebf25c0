/**
 * Converts entries of a container log to the requested output, bytes to bytes, within one buffer. Accepts the file cut
 * at any byte, so that an entry of many megabytes passes through in chunks. Bound: keeps at most the header of one
 * entry between two chunks. Upstream: logWriter of k8s.io/cri-client.
 */
import { emptyHeader, MAX_HEADER_BYTES, readCriHeader } from "./criHeader.ts";
import type { LogStream } from "./podLogOptions.ts";
import type { SinceBound } from "./sinceBound.ts";

/** Options of the output. */
export interface LogFormat {
  /** Each line starts with its time, with nine digits of a second. */
  readonly timestamps: boolean;
  /** Entries for which this returns true are skipped. */
  readonly isBefore: SinceBound | undefined;
  /** undefined means both streams. */
  readonly stream: LogStream | undefined;
  /** undefined: no limit. */
  readonly limitBytes: number | undefined;
}

/** A formatter with its position in the input. */
export interface LogFormatter {
  /**
   * Formats the bytes of the file from `from` to `to`, which continue the previous ones. Writes the output to the start
   * of `buffer` and returns its length. `from` is at least `roomFor(to - from)`.
   */
  format(buffer: Uint8Array, from: number, to: number): number;
  /** The next bytes are from another file, so an unfinished entry never ends. */
  startFile(): void;
  /** True when the limit is reached. */
  readonly isFull: boolean;
  /** True when no entry is unfinished. */
  readonly isBetweenEntries: boolean;
  /** Number of malformed entries skipped. */
  readonly malformed: number;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const POINT = 0x2e;
const ZERO = 0x30;
const LETTER_Z = 0x5a;
/** Length of `0000-00-00T00:00:00`. */
const SECONDS_LENGTH = 19;
const FIXED_LENGTH = 29;

/**
 * Returns the free bytes needed before the input, for a header kept from the previous chunk and for timestamps that get
 * longer.
 */
export const roomFor = (length: number): number => 2 * MAX_HEADER_BYTES + (length >> 4);

/** Copies the bytes, also of a Buffer, whose own `slice` does not copy. */
const copyOf = (bytes: Uint8Array, from: number, to: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(from, to));

/** Creates a formatter that expects the start of an entry. */
export function createLogFormatter({ timestamps, isBefore, stream, limitBytes }: LogFormat): LogFormatter {
  const header = emptyHeader();
  let kept = new Uint8Array(0);
  let isInEntry = false;
  let isWanted = false;
  let isAtLineStart = true;
  let isEntryEmpty = true;
  let left = limitBytes ?? Number.POSITIVE_INFINITY;
  let malformed = 0;

  /**
   * Parses the header at the start of an entry and writes its time. Returns the offset to continue at; -1 for `cut`.
   */
  const begin = (bytes: Uint8Array, at: number, to: number): number => {
    const reading = readCriHeader(bytes, at, to, header);
    if (reading === "cut") return -1;
    isInEntry = true;
    isEntryEmpty = true;
    isWanted = reading === "whole";
    if (!isWanted) {
      malformed += 1;
      return at;
    }
    isWanted = stream === undefined || header.isStderr === (stream === "stderr");
    if (isWanted && isBefore !== undefined) isWanted = !isBefore(bytes, at, header);
    return header.contentAt;
  };

  return {
    format(buffer, from, to) {
      let at = from - kept.length;
      buffer.set(kept, at);
      kept = new Uint8Array(0);
      const bytes = buffer.subarray(0, to);
      let written = 0;
      while (at < to && left > 0) {
        if (!isInEntry) {
          const entryAt = at;
          const next = begin(bytes, at, to);
          if (next === -1) {
            kept = copyOf(bytes, at, to);
            break;
          }
          at = next;
          if (isWanted && timestamps && isAtLineStart) {
            const length = Math.min(writeTime(bytes, entryAt, header, written), left);
            written += length;
            left -= length;
          }
        }
        const newline = bytes.indexOf(NEWLINE, at);
        const end = newline === -1 ? to : newline + 1;
        if (isWanted) {
          const contentEnd = newline !== -1 && header.isPartial ? newline : end;
          const length = Math.min(contentEnd - at, left);
          if (length > 0) bytes.copyWithin(written, at, at + length);
          written += length;
          left -= length;
          if (length > 0) isEntryEmpty = false;
          // After an empty partial entry, the next part counts as a new line, as upstream.
          if (newline !== -1) isAtLineStart = isEntryEmpty || !header.isPartial;
          else if (length > 0) isAtLineStart = false;
        }
        if (newline !== -1) isInEntry = false;
        at = end;
      }
      return written;
    },
    startFile() {
      kept = new Uint8Array(0);
      isInEntry = false;
    },
    get isFull() {
      return left <= 0;
    },
    get isBetweenEntries() {
      return !isInEntry && kept.length === 0;
    },
    get malformed() {
      return malformed;
    },
  };
}

/**
 * Writes the time of the entry at `at` and a blank to `to`, which precedes it: nine digits of a second, in its own
 * zone.
 */
function writeTime(
  bytes: Uint8Array,
  at: number,
  { zoneAt, timestampEnd }: { readonly zoneAt: number; readonly timestampEnd: number },
  to: number,
): number {
  const secondsEnd = at + Math.min(zoneAt - at, FIXED_LENGTH);
  const isUtc = isZeroZone(bytes, zoneAt, timestampEnd);
  const zone = isUtc ? undefined : copyOf(bytes, zoneAt, timestampEnd);
  bytes.copyWithin(to, at, secondsEnd);
  let next = to + (secondsEnd - at);
  const fixedEnd = to + FIXED_LENGTH;
  if (next === to + SECONDS_LENGTH) bytes[next++] = POINT;
  while (next < fixedEnd) bytes[next++] = ZERO;
  if (zone === undefined) bytes[next++] = LETTER_Z;
  else {
    bytes.set(zone, next);
    next += zone.length;
  }
  bytes[next++] = SPACE;
  return next - to;
}

/** Returns true for `Z` and for a zero offset. */
function isZeroZone(bytes: Uint8Array, zoneAt: number, end: number): boolean {
  if (bytes[zoneAt] === LETTER_Z) return true;
  const isZero = (i: number): boolean => bytes[zoneAt + i] === ZERO;
  return end - zoneAt === 6 && isZero(1) && isZero(2) && isZero(4) && isZero(5);
}
