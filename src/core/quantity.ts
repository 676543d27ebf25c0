/**
 * Kubernetes quantities (`100m`, `1.5Gi`, `12e6`) as exact numbers: a count of nano units in a bigint, with the
 * format they were written in, so that they are written back the way they came.
 * Bounds: text up to 256 characters, decimal exponents up to 10^100, never finer than one nano (rounded away from 0).
 * Upstream: apimachinery's resource.Quantity.
 */

/** Notation of a quantity, kept when it is formatted again. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** An exact amount. */
export interface Quantity {
  /** The amount in units of 10^-9. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

const NANO = 1_000_000_000n;
const NANO_PER_MILLI = 1_000_000n;
const MAX_INT64_NANO = (2n ** 63n - 1n) * NANO;
const MAX_TEXT_LENGTH = 256;
const MAX_EXPONENT = 100;

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const DECIMAL_SUFFIX_OF = new Map([...DECIMAL_SUFFIXES].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIXES: readonly string[] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d+)?$/;

interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function scaleOf(suffix: string): Scale | undefined {
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: "BinarySI" };
  const decimal = DECIMAL_SUFFIXES.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: "DecimalSI" };
  const exponent = Number(suffix.slice(1));
  return Number.isInteger(exponent) ? { base: 10, exponent, format: "DecimalExponent" } : undefined;
}

/** Returns `numerator / denominator`, rounded away from zero; both are at least 0. */
function divideUp(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return quotient * denominator === numerator ? quotient : quotient + 1n;
}

/** Returns `digits` x 10^-fractionDigits x scale in nano units; undefined beyond the bound of this module. */
function magnitude(digits: bigint, fractionDigits: number, scale: Scale): bigint | undefined {
  if (digits === 0n) return 0n;
  if (scale.base === 2) return divideUp(digits * 2n ** BigInt(scale.exponent) * NANO, 10n ** BigInt(fractionDigits));
  if (scale.exponent > MAX_EXPONENT) return undefined;
  const exponent = Math.max(scale.exponent + 9 - fractionDigits, -2 * MAX_TEXT_LENGTH);
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : divideUp(digits, 10n ** BigInt(-exponent));
}

/**
 * Parses a text (or a plain JSON number); undefined when it is not a quantity. Binary amounts beyond 2^63-1 are capped
 * there, amounts finer than one nano are rounded away from zero.
 */
export function parseQuantity(text: string | number): Quantity | undefined {
  const source = String(text);
  if (source.length > MAX_TEXT_LENGTH) return undefined;
  const match = SHAPE.exec(source);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match;
  // Differs from upstream: a sign or a point without any digit is rejected, as the published grammar says.
  if (whole === "" && fraction === "") return undefined;
  const scale = scaleOf(suffix);
  if (scale === undefined) return undefined;
  const size = magnitude(BigInt(whole + fraction), fraction.length, scale);
  if (size === undefined) return undefined;
  const capped = scale.base === 2 && size > MAX_INT64_NANO ? MAX_INT64_NANO : size;
  const format = scale.format === "BinarySI" && capped > 0n && capped < NANO ? "DecimalSI" : scale.format;
  return { nano: sign === "-" ? -capped : capped, format };
}

function roundAwayFromZero(nano: bigint, unit: bigint): bigint {
  return nano < 0n ? -divideUp(-nano, unit) : divideUp(nano, unit);
}

/** Returns the amount in whole units, rounded up (away from zero). */
export const quantityValue = (quantity: Quantity): bigint => roundAwayFromZero(quantity.nano, NANO);

/** Returns the amount in thousandths, rounded up (away from zero). */
export const quantityMilli = (quantity: Quantity): bigint => roundAwayFromZero(quantity.nano, NANO_PER_MILLI);

/** Returns a whole number of units as a quantity. */
export const quantityOf = (units: bigint | number, format: QuantityFormat = "DecimalSI"): Quantity => ({
  nano: BigInt(units) * NANO,
  format,
});

/** Returns a number of thousandths as a quantity. */
export const quantityOfMilli = (milli: bigint | number, format: QuantityFormat = "DecimalSI"): Quantity => ({
  nano: BigInt(milli) * NANO_PER_MILLI,
  format,
});

/** Returns the sum in the format of `a`, unless `a` is zero. */
export const addQuantity = (a: Quantity, b: Quantity): Quantity => ({
  nano: a.nano + b.nano,
  format: a.nano === 0n ? b.format : a.format,
});

/** Returns the difference; the format follows the rule of `addQuantity`. */
export const subtractQuantity = (a: Quantity, b: Quantity): Quantity => ({
  nano: a.nano - b.nano,
  format: a.nano === 0n ? b.format : a.format,
});

/** Returns -1, 0 or 1 when `a` is smaller than, equal to or larger than `b`; ignores formats. */
export function compareQuantity(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nano === b.nano) return 0;
  return a.nano < b.nano ? -1 : 1;
}

function formatBinary(units: bigint): string {
  let mantissa = units;
  let power = 0;
  while (power < BINARY_SUFFIXES.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    power += 1;
  }
  return `${mantissa}${BINARY_SUFFIXES[power] ?? ""}`;
}

function formatDecimal(nano: bigint, format: "DecimalSI" | "DecimalExponent"): string {
  let mantissa = nano;
  let exponent = -9;
  while ((format === "DecimalExponent" || exponent < 18) && mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === "DecimalSI") return `${mantissa}${DECIMAL_SUFFIX_OF.get(exponent) ?? ""}`;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

/** Formats canonically: no fraction, the largest lossless suffix; small or fractional binary amounts in decimal. */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) return "0";
  if (format !== "BinarySI") return formatDecimal(nano, format);
  const units = nano / NANO;
  const isWhole = units * NANO === nano;
  const isSmall = units > -1024n && units < 1024n;
  return isWhole && !isSmall ? formatBinary(units) : formatDecimal(nano, "DecimalSI");
}
