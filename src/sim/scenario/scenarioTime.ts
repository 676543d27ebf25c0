/** Instants and durations of a scenario: Go durations such as `10s` and `1m30s`, counted from the start of the node. */
import { parseDuration } from "../../core/config/duration.ts";

/** A Go duration: `500ms`, `10s`, `1m30s`, `2h`. */
export type Duration = string;

/** Thrown for an invalid scenario, before the run or when an expectation could never be judged. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** Parses a duration to milliseconds; throws ScenarioError with `what` for an invalid or negative duration. */
export function milliseconds(duration: Duration, what: string): number {
  const ms = parseDuration(duration);
  if (ms !== undefined && ms >= 0) return Math.round(ms);
  throw new ScenarioError(`${what}: ${JSON.stringify(duration)} is not a duration like 500ms, 10s or 1m30s`);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Formats milliseconds in the shortest form: `0s`, `1.5s`, `10m`, `1h30m`. */
export function shortDuration(ms: number): string {
  if (ms < SECOND_MS && ms > 0) return `${Math.round(ms)}ms`;
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(ms / HOUR_MS), "h"],
    [Math.floor((ms % HOUR_MS) / MINUTE_MS), "m"],
    [Math.round(ms % MINUTE_MS) / SECOND_MS, "s"],
  ];
  const text = parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join("");
  return text === "" ? "0s" : text;
}
