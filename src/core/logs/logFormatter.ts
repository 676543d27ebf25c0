/**
 * Entries of a container's log in, what its reader asked for out: bytes to bytes, within one buffer. Works on any cut of
 * the file, so that an entry of many megabytes passes through in pieces. Bound: the head of one entry is kept between
 * two pieces. Upstream: logWriter of k8s.io/cri-client.
 */
import { emptyHeader, MAX_HEADER_BYTES, readCriHeader } from "./criHeader.ts";
import type { LogStream } from "./podLogOptions.ts";
import type { SinceBound } from "./sinceBound.ts";

/** What of the entries is wanted. */
export interface LogFormat {
  /** Each line begins with its time, nine digits of a second. */
  readonly timestamps: boolean;
  /** Entries older than that are left out. */
  readonly isBefore: SinceBound | undefined;
  /** undefined: both. */
  readonly stream: LogStream | undefined;
  /** undefined: no limit. */
  readonly limitBytes: number | undefined;
}

export interface LogFormatter {
  /**
   * Formats the bytes of the file from `from` to `to`, which continue the last ones; the output is at the start of
   * `buffer`, and its length returned. `from` is at least `roomFor(to - from)`.
   */
  format(buffer: Uint8Array, from: number, to: number): number;
  /** What follows is another file: an entry that has not ended by now never will. */
  startFile(): void;
  /** True once the limit is reached. */
  readonly isFull: boolean;
  /** True when all entries begun have ended. */
  readonly isBetweenEntries: boolean;
  /** Entries left out because they are none. */
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

/** Bytes that have to be free before the input: for a head kept from before, and for times that are written longer. */
export const roomFor = (length: number): number => 2 * MAX_HEADER_BYTES + (length >> 4);

/** A copy also of a Buffer, whose own `slice` makes none. */
const copyOf = (bytes: Uint8Array, from: number, to: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(from, to));

/** A formatter at the start of an entry. */
export function createLogFormatter({ timestamps, isBefore, stream, limitBytes }: LogFormat): LogFormatter {
  const header = emptyHeader();
  let kept = new Uint8Array(0);
  let isInEntry = false;
  let isWanted = false;
  let isAtLineStart = true;
  let isEntryEmpty = true;
  let left = limitBytes ?? Number.POSITIVE_INFINITY;
  let malformed = 0;

  /** At the start of an entry: reads its head, writes its time. Returns where to go on reading; -1 for `cut`. */
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
          // As upstream: after an empty part of a line the next part counts as a line of its own.
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

/** Writes the time of the entry at `at` and a blank to `to`, which is before it: nine digits of a second, its own zone. */
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

/** `Z`, or no hours and no minutes from it. */
function isZeroZone(bytes: Uint8Array, zoneAt: number, end: number): boolean {
  if (bytes[zoneAt] === LETTER_Z) return true;
  const isZero = (i: number): boolean => bytes[zoneAt + i] === ZERO;
  return end - zoneAt === 6 && isZero(1) && isZero(2) && isZero(4) && isZero(5);
}
