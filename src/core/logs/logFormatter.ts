/**
 * Converts entries of a container log to the requested output (stream, `since`, timestamps, `limitBytes`), bytes to
 * bytes, within one buffer. Accepts the file cut at any byte, so that an entry of many megabytes passes through in
 * chunks. Bound: keeps at most the header of one entry between two chunks. Upstream: logWriter of k8s.io/cri-client.
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
   * of `buffer` and returns its length. `from` is at least `prefixLengthFor(to - from)`.
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
export const prefixLengthFor = (length: number): number => 2 * MAX_HEADER_BYTES + (length >> 4);

/** Copies the bytes, also of a Buffer, whose own `slice` does not copy. */
const copyOf = (bytes: Uint8Array, from: number, to: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(from, to));

/** Creates a formatter that expects the start of an entry. */
export const createLogFormatter = (format: LogFormat): LogFormatter => new Formatter(format);

class Formatter implements LogFormatter {
  readonly #options: LogFormat;
  readonly #header = emptyHeader();
  #kept = new Uint8Array(0);
  #isInEntry = false;
  #isWanted = false;
  #isAtLineStart = true;
  #isEntryEmpty = true;
  #left: number;
  #malformed = 0;

  constructor(options: LogFormat) {
    this.#options = options;
    this.#left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  format(buffer: Uint8Array, from: number, to: number): number {
    let at = from - this.#kept.length;
    buffer.set(this.#kept, at);
    this.#kept = new Uint8Array(0);
    const bytes = buffer.subarray(0, to);
    let written = 0;
    while (at < to && this.#left > 0) {
      if (!this.#isInEntry) {
        const entryAt = at;
        const next = this.#begin(bytes, at, to);
        if (next === -1) {
          this.#kept = copyOf(bytes, at, to);
          break;
        }
        at = next;
        if (this.#isWanted && this.#options.timestamps && this.#isAtLineStart) {
          written += this.#limited(writeTime(bytes, entryAt, this.#header, written));
        }
      }
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline === -1 ? to : newline + 1;
      if (this.#isWanted) written += this.#writeContent(bytes, at, end, newline, written);
      if (newline !== -1) this.#isInEntry = false;
      at = end;
    }
    return written;
  }

  /**
   * Parses the header at the start of an entry. Returns the offset to continue at; -1 if the header is cut.
   */
  #begin(bytes: Uint8Array, at: number, to: number): number {
    const header = this.#header;
    const { stream, isBefore } = this.#options;
    const reading = readCriHeader(bytes, at, to, header);
    if (reading === "cut") return -1;
    this.#isInEntry = true;
    this.#isEntryEmpty = true;
    this.#isWanted = reading === "whole";
    if (!this.#isWanted) {
      this.#malformed += 1;
      return at;
    }
    this.#isWanted = stream === undefined || header.isStderr === (stream === "stderr");
    if (this.#isWanted && isBefore !== undefined) this.#isWanted = !isBefore(bytes, at, header);
    return header.contentAt;
  }

  /** Copies the content from `at` to `end` to `written`. Returns its length; `newline` is -1 if the entry goes on. */
  #writeContent(bytes: Uint8Array, at: number, end: number, newline: number, written: number): number {
    const { isPartial } = this.#header;
    const length = this.#limited((newline !== -1 && isPartial ? newline : end) - at);
    if (length > 0) {
      bytes.copyWithin(written, at, at + length);
      this.#isEntryEmpty = false;
    }
    // After an empty partial entry, the next part counts as a new line, as upstream.
    if (newline !== -1) this.#isAtLineStart = this.#isEntryEmpty || !isPartial;
    else if (length > 0) this.#isAtLineStart = false;
    return length;
  }

  /** Returns the part of the length within the limit, and counts it. */
  #limited(length: number): number {
    const within = Math.min(length, this.#left);
    this.#left -= within;
    return within;
  }

  startFile(): void {
    this.#kept = new Uint8Array(0);
    this.#isInEntry = false;
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  get isBetweenEntries(): boolean {
    return !this.#isInEntry && this.#kept.length === 0;
  }

  get malformed(): number {
    return this.#malformed;
  }
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
