/** CRI timestamps: nanoseconds since the epoch. */

let last = 0n;

/**
 * Wall time in nanoseconds, millisecond resolution, made distinct by counting up within a millisecond so that
 * "created later" is also "greater". A clock that steps back by more than a second is followed.
 */
export function wallClockNs(): bigint {
  const now = BigInt(Date.now()) * 1_000_000n;
  last = now > last || last - now > 1_000_000_000n ? now : last + 1n;
  return last;
}

/** RFC 3339 in UTC with nine digits of a second, as CRI log lines carry it. */
export function rfc3339Nano(ns: bigint): string {
  const ms = Number(ns / 1_000_000n);
  const fraction = String(ns % 1_000_000_000n).padStart(9, "0");
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`;
}
