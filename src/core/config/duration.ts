/**
 * Converts Go duration strings (`1m0s`, `100ms`, `1.5h`) to and from milliseconds. Values below a millisecond keep
 * their fraction, down to one nanosecond. Bound: 64 bits of nanoseconds, about 292 years.
 * Upstream: time.ParseDuration and Duration.String, as metav1.Duration uses them.
 */
import { trimmedEnd } from "../trimmedEnd.ts";

const UNIT_NANOS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n], // micro sign
  ["\u03bcs", 1_000n], // Greek mu
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const NANOS_PER_MS = 1_000_000n;
const MAX_NANOS = 2n ** 63n - 1n;
const MAX_TEXT_LENGTH = 128;
const PART = /(\d*)(?:\.(\d*))?([^\d.]+)/y;

/** Parses a Go duration string to milliseconds; undefined when it is malformed or out of range. */
export function parseDuration(text: string): number | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const sign = /^[+-]/.exec(text)?.[0] ?? "";
  const body = text.slice(sign.length);
  if (body === "0") return 0;
  const nanos = sumOfParts(body);
  if (nanos === undefined) return undefined;
  // The most negative 64-bit value has no positive counterpart.
  if (nanos > (sign === "-" ? MAX_NANOS + 1n : MAX_NANOS)) return undefined;
  const ms = Number(nanos / NANOS_PER_MS) + Number(nanos % NANOS_PER_MS) / 1e6;
  return sign === "-" && ms !== 0 ? -ms : ms;
}

function sumOfParts(body: string): bigint | undefined {
  if (body === "") return undefined;
  let nanos = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const match = PART.exec(body);
    if (match === null) return undefined;
    const [, whole = "", fraction = "", name = ""] = match;
    const unit = UNIT_NANOS.get(name);
    if (unit === undefined || (whole === "" && fraction === "")) return undefined;
    nanos += BigInt(`0${whole}`) * unit + (BigInt(`0${fraction}`) * unit) / 10n ** BigInt(fraction.length);
  }
  return nanos;
}

function withFraction(nanos: bigint, unit: bigint, digits: number, name: string): string {
  const fraction = trimmedEnd((nanos % unit).toString().padStart(digits, "0"), "0");
  return `${nanos / unit}${fraction === "" ? "" : `.${fraction}`}${name}`;
}

/** Formats milliseconds as a Go duration: `0s`, `100ms`, `1m0s`, `4h0m0s`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "0s";
  const size = Math.abs(ms);
  const wholeMs = Math.trunc(size);
  const nanos = BigInt(wholeMs) * NANOS_PER_MS + BigInt(Math.round((size - wholeMs) * 1e6));
  if (nanos === 0n) return "0s";
  const sign = ms < 0 ? "-" : "";
  if (nanos < 1_000n) return `${sign}${nanos}ns`;
  if (nanos < NANOS_PER_MS) return `${sign}${withFraction(nanos, 1_000n, 3, "\u00b5s")}`;
  if (nanos < 1_000_000_000n) return `${sign}${withFraction(nanos, NANOS_PER_MS, 6, "ms")}`;
  const minutes = nanos / 60_000_000_000n;
  const seconds = withFraction(nanos % 60_000_000_000n, 1_000_000_000n, 9, "s");
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}
