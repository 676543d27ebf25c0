/** Times of Docker. Pure. */

const NS_PER_MS = 1_000_000n;
const DIGITS = 9;
/** A second and up to nine digits of its fraction, in UTC or with an offset. */
const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Returns nanoseconds since 1970 of an RFC 3339 time; zero for Docker's zero time, and for any other text. */
export function timestampNs(text: string): bigint {
  const [, seconds, fraction = "", zone] = RFC3339.exec(text) ?? [];
  const ms = Date.parse(`${seconds}${zone}`);
  if (seconds === undefined || Number.isNaN(ms) || ms <= 0) return 0n;
  return BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(DIGITS, "0"));
}
