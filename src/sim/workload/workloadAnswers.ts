/** How the servers of a workload answer probes: by path and time of day. Stateless. */
import type { Clock } from "../../ports/clock.ts";
import type { SimAnswer, SimAnswers } from "../simProbers.ts";

/** Fails for every third period of 90 seconds. */
export const MOODY_PATH = "/moody";
/** Does not answer for five minutes of every twenty. */
export const SICKLY_PATH = "/sickly";
/** Always fails. */
export const NEVER_PATH = "/never";

const MOOD_MS = 90_000;
const CYCLE_MS = 20 * 60_000;
const SICK_MS = 5 * 60_000;

const YES: SimAnswer = { result: "success", output: "", afterMs: 1 };
const NO: SimAnswer = { result: "failure", output: "HTTP probe failed with statuscode: 503", afterMs: 1 };
/** Longer than any probe waits. */
const SILENCE: SimAnswer = { ...YES, afterMs: 600_000 };

/** Answers of a workload's servers; all other paths succeed. */
export const workloadAnswers =
  (clock: Pick<Clock, "monotonicMs">): SimAnswers =>
  (url) => {
    const now = clock.monotonicMs();
    if (url.endsWith(MOODY_PATH)) return Math.floor(now / MOOD_MS) % 3 === 2 ? NO : YES;
    if (url.endsWith(SICKLY_PATH)) return now % CYCLE_MS > CYCLE_MS - SICK_MS ? SILENCE : YES;
    return url.endsWith(NEVER_PATH) ? NO : YES;
  };
