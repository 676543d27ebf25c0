/** CRI timestamps: nanoseconds since the epoch. */

let last = 0n;

/**
 * Returns the wall time in nanoseconds with millisecond resolution. Values within a millisecond count up, so that later
 * records have greater timestamps. If the clock steps back by more than a second, the result follows it.
 */
export function wallClockNs(): bigint {
  const now = BigInt(Date.now()) * 1_000_000n;
  last = now > last || last - now > 1_000_000_000n ? now : last + 1n;
  return last;
}

/** Formats a time as RFC 3339 in UTC with nine fractional digits, as in CRI log lines. */
export function rfc3339Nano(ns: bigint): string {
  const ms = Number(ns / 1_000_000n);
  const fraction = String(ns % 1_000_000_000n).padStart(9, "0");
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`;
}
