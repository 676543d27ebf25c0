/**
 * Converts times to calendar fields in UTC and to RFC 3339 text, and RFC 3339 text to times, without reading the
 * system's clock or time zone. Days are counted from 0000-03-01, so that the leap day ends the year. Range: years 1 to
 * 9999.
 */
import { type EpochMs, epochMs } from "../ids.ts";
import { trimmedEnd } from "../trimmedEnd.ts";

/** Calendar fields in UTC; `micros` is the fraction of the second in microseconds. */
export interface CivilTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micros: number;
}

const DAY_MS = 86_400_000;
const DAYS_PER_ERA = 146_097; // 400 years
const DAYS_TO_EPOCH = 719_468; // 0000-03-01 to 1970-01-01
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - DAYS_TO_EPOCH;
}

/** Returns the calendar fields of a time, in UTC. */
export function civilTime(at: EpochMs): CivilTime {
  const days = Math.floor(at / DAY_MS);
  const totalMicros = Math.floor((at - days * DAY_MS) * 1000);
  const shifted = days + DAYS_TO_EPOCH;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const seconds = Math.floor(totalMicros / 1_000_000);
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    micros: totalMicros % 1_000_000,
  };
}

/** Parses RFC 3339 text; undefined when it is malformed or names a day that does not exist. */
export function parseInstant(text: string | undefined | null): EpochMs | undefined {
  const match = RFC3339.exec(text ?? "");
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetMinutes = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * (match[8] === "-" ? -1 : 1);
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const midnight = daysSinceEpoch(year, month, day) * DAY_MS;
  const civil = civilTime(epochMs(midnight));
  if (civil.year !== year || civil.month !== month || civil.day !== day) return undefined;
  const fractionMs = match[7] === undefined ? 0 : Number(match[7]) * 1000;
  return epochMs(midnight + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + fractionMs);
}

/** Returns the number padded with zeros on the left. */
export const padded = (value: number, width: number): string => String(value).padStart(width, "0");

/** Formats a time as RFC 3339 in UTC with whole seconds, as the API does. */
export function formatInstant(at: EpochMs): string {
  const t = civilTime(at);
  const date = [padded(t.year, 4), padded(t.month, 2), padded(t.day, 2)].join("-");
  const time = [padded(t.hour, 2), padded(t.minute, 2), padded(t.second, 2)].join(":");
  // Array.join makes one flat string. A template would keep all its parts in memory as long as an object keeps the
  // time.
  return [date, "T", time, "Z"].join("");
}

/** Formats a time as RFC 3339 in UTC with milliseconds. */
export const formatInstantMs = (at: EpochMs): string =>
  formatInstant(at).replace("Z", `.${padded(Math.floor(civilTime(at).micros / 1000), 3)}Z`);

/** Formats a time as RFC 3339 in UTC with as many fraction digits as needed. */
export function rfc3339Nano(at: EpochMs): string {
  const { micros } = civilTime(at);
  const fraction = micros === 0 ? "" : `.${trimmedEnd(String(micros).padStart(6, "0"), "0")}`;
  return formatInstant(at).replace("Z", `${fraction}Z`);
}
