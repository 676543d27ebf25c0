/**
 * Compares the timestamps of log entries with a given time, on bytes: the time is formatted once per zone that occurs,
 * since timestamps in one zone compare as text. Exact to the nanosecond.
 */
import { epochMs } from "../ids.ts";
import { civilTime, padded, parseInstant } from "../time/civilTime.ts";
import type { CriHeader } from "./criHeader.ts";

/** A time with nanosecond precision. */
export interface LogInstant {
  /** Whole seconds since 1970, rounded down. */
  readonly seconds: number;
  /** 0 to 999999999. */
  readonly nanos: number;
}

/** Returns true when the entry at `at`, with this header, is older than the given time. */
export type SinceBound = (bytes: Uint8Array, at: number, header: CriHeader) => boolean;

const LETTER_Z = 0x5a;
const ZERO = 0x30;
const POINT = 0x2e;
/** Length of `0000-00-00T00:00:00`. */
const SECONDS_LENGTH = 19;
const FIXED_LENGTH = 29;
/** Maximum number of cached zones; a log has one or two. */
const MAX_ZONES = 64;

/** Parses an RFC 3339 text; undefined when it is malformed. */
export function parseLogInstant(text: string): LogInstant | undefined {
  const at = parseInstant(text.replace(/\.\d+/, ""));
  if (at === undefined) return undefined;
  const [, fraction = ""] = /\.(\d+)/.exec(text) ?? [];
  return { seconds: Math.floor(at / 1000), nanos: Number(fraction.slice(0, 9).padEnd(9, "0")) };
}

/** Creates the comparison for one time. */
export function sinceBound({ seconds, nanos }: LogInstant): SinceBound {
  const inUtc = boundText(seconds, nanos);
  const inZone = new Map<string, Uint8Array>();
  const boundOf = (bytes: Uint8Array, { zoneAt }: CriHeader): Uint8Array => {
    if (bytes[zoneAt] === LETTER_Z) return inUtc;
    const zone = String.fromCharCode(...bytes.subarray(zoneAt, zoneAt + 6));
    const known = inZone.get(zone);
    if (known !== undefined) return known;
    const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
    const bound = boundText(seconds + (zone.startsWith("-") ? -minutes : minutes) * 60, nanos);
    if (inZone.size < MAX_ZONES) inZone.set(zone, bound);
    return bound;
  };
  return (bytes, at, header) => {
    const bound = boundOf(bytes, header);
    const length = header.zoneAt - at;
    for (let i = 0; i < FIXED_LENGTH; i++) {
      const byte = i < length ? (bytes[at + i] ?? 0) : i === SECONDS_LENGTH ? POINT : ZERO;
      const other = bound[i] ?? 0;
      if (byte !== other) return byte < other;
    }
    return false;
  };
}

function boundText(seconds: number, nanos: number): Uint8Array {
  const t = civilTime(epochMs(seconds * 1000));
  const date = `${padded(t.year, 4)}-${padded(t.month, 2)}-${padded(t.day, 2)}`;
  const time = `${padded(t.hour, 2)}:${padded(t.minute, 2)}:${padded(t.second, 2)}.${padded(nanos, 9)}`;
  return new TextEncoder().encode(`${date}T${time}`);
}
