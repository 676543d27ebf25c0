/** An instant of a scenario: the actions taken at it, in the script, and the claims about it, in the expectations. */
import { type Subjects, subjectsAt } from "./expectations.ts";
import { type Duration, milliseconds, shortDuration } from "./scenarioTime.ts";
import { type Verbs, verbsAt } from "./script.ts";

/** Actions and claims of an instant. */
export type Moment = Verbs & Subjects;

/** Returns the instant that is `time` after the start of the node. */
export function at(time: Duration): Moment {
  const atMs = milliseconds(time, "at");
  const text = `at ${shortDuration(atMs)}`;
  return { ...verbsAt({ kind: "at", atMs }, text), ...subjectsAt({ kind: "at", fromMs: atMs, toMs: atMs, text }) };
}
