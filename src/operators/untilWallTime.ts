/** Waits for an instant of the wall clock, which may step meanwhile. */
import { filter, type Observable, take } from "rxjs";
import type { EpochMs } from "../core/ids.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { pollAfter } from "./pollAfter.ts";

/** Maximum delay of the end after a step of the clock. */
const LOOK_MS = 60_000;

/**
 * Emits 0 once it is `at`, then completes.
 *
 *     wall clock            12:00--12:01--(step)--12:30
 *     untilWallTime(12:20)  --------------------(0|)
 *
 * Cancels: the pending timer. Errors: none. Bound: one timer, one clock check per millisecond. A past instant ends it
 * in the next turn.
 */
export const untilWallTime = (clock: Clock, at: EpochMs): Observable<0> =>
  // Whole milliseconds: a fraction left on the wall clock may be too short to move the clock of the timer.
  pollAfter(clock, 0, () => longTimer(clock, Math.ceil(Math.min(LOOK_MS, at - clock.wallTime())))).pipe(
    filter(() => clock.wallTime() >= at),
    take(1),
  );
