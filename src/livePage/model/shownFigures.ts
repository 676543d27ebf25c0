/** Formats figures for the page: durations, countdowns, sizes, rates and shares. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Formats a duration in milliseconds: `0 ms`, `340 ms`, `1.3 s`, `45 s`, `3m 20s`, `2h 5m`, `3d 4h`. */
export function shownDuration(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < SECOND - 0.5) return `${Math.round(positive)} ms`;
  if (positive < 9_950) return `${(positive / SECOND).toFixed(1)} s`;
  const seconds = Math.round(positive / SECOND);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const hours = Math.floor(positive / HOUR);
  if (hours < 48) return `${hours}h ${Math.floor((positive % HOUR) / MINUTE)}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** Formats the time that is left until an instant, to the nearest second: `12 s`, `now`. */
export function shownCountdown(at: number, now: number): string {
  const seconds = Math.round((at - now) / SECOND);
  return seconds <= 0 ? "now" : seconds < 60 ? `${seconds} s` : shownDuration(seconds * SECOND);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Formats a number of bytes with three digits: `512 B`, `1.50 GiB`. */
export function shownBytes(bytes: number): string {
  let amount = Math.max(0, bytes);
  let unit = 0;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1_024;
    unit += 1;
  }
  const digits = unit === 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return `${amount.toFixed(digits)} ${UNITS[unit]}`;
}

/** Formats a count or rate: `0`, `17`, `1.2k`, `3.4M`. */
export function shownCount(count: number): string {
  if (count < 1_000) return Number.isInteger(count) ? String(count) : count.toFixed(1);
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Formats a share of a whole: `23%`; undefined when either is unknown. */
export function shownShare(part: number | undefined, whole: number | undefined): string | undefined {
  return part === undefined || whole === undefined || whole <= 0 ? undefined : `${Math.round((part / whole) * 100)}%`;
}

/** Formats a time of day in UTC: `13:05:09`, or `13:05:09.042` with milliseconds. */
export function shownTimeOfDay(at: number, hasMs = false): string {
  const inDay = ((Math.floor(at) % 86_400_000) + 86_400_000) % 86_400_000;
  const two = (value: number): string => String(value).padStart(2, "0");
  const text = `${two(Math.floor(inDay / HOUR))}:${two(Math.floor(inDay / MINUTE) % 60)}:${two(Math.floor(inDay / SECOND) % 60)}`;
  return hasMs ? `${text}.${String(inDay % SECOND).padStart(3, "0")}` : text;
}
