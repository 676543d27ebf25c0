/** One instant of a scenario: what is done then, in its script, and what is claimed of it, in its expectations. */
import { type Subjects, subjectsAt } from "./expectations.ts";
import { type Duration, milliseconds, shortDuration } from "./scenarioTime.ts";
import { type Verbs, verbsAt } from "./script.ts";

/** An instant. */
export type Moment = Verbs & Subjects;

/** The instant so long after the start of the node. */
export function at(time: Duration): Moment {
  const atMs = milliseconds(time, "at");
  const text = `at ${shortDuration(atMs)}`;
  return { ...verbsAt({ kind: "at", atMs }, text), ...subjectsAt({ kind: "at", fromMs: atMs, toMs: atMs, text }) };
}
