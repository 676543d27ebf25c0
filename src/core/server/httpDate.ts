/** Formats times for HTTP headers. */
import type { EpochMs } from "../ids.ts";
import { civilTime, padded } from "../time/civilTime.ts";

const DAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const DAY_MS = 86_400_000;

/** Returns the short English name of the weekday, in UTC. */
export const dayName = (at: EpochMs): string => DAYS[((Math.floor(at / DAY_MS) % 7) + 7) % 7] ?? "";
/** Returns the short English name of a month, 1 to 12. */
export const monthName = (month: number): string => MONTHS[month - 1] ?? "";

/** Formats a time per RFC 9110: `Sun, 22 Nov 2026 08:11:25 GMT`. */
export function httpDate(at: EpochMs): string {
  const { year, month, day, hour, minute, second } = civilTime(at);
  const time = [hour, minute, second].map((part) => padded(part, 2)).join(":");
  return `${dayName(at)}, ${padded(day, 2)} ${monthName(month)} ${year} ${time} GMT`;
}
