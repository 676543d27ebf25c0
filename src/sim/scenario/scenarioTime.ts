/** Times and spans of a scenario: Go durations such as `10s` and `1m30s`, counted from the start of the node. */
import { parseDuration } from "../../core/config/duration.ts";

/** A Go duration: `500ms`, `10s`, `1m30s`, `2h`. */
export type Duration = string;

/** The scenario itself makes no sense: it is thrown before anything runs, or when nothing could ever be judged. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** Milliseconds of a duration; throws ScenarioError, naming `what`, when it is none or negative. */
export function milliseconds(duration: Duration, what: string): number {
  const ms = parseDuration(duration);
  if (ms !== undefined && ms >= 0) return Math.round(ms);
  throw new ScenarioError(`${what}: ${JSON.stringify(duration)} is no duration like 500ms, 10s or 1m30s`);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Milliseconds in the shortest form a scenario can say them: `0s`, `1.5s`, `10m`, `1h30m`. */
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
