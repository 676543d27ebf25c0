/** Timers of any length: the platform's timers fire at once beyond 2^31 - 1 ms (24.8 days). */
import { Observable, type SchedulerAction } from "rxjs";
import type { Clock } from "../ports/clock.ts";

/** The longest single hop, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Emits 0 once, `ms` from its subscription, then completes.
 *
 *     longTimer(clock, 30d)    ------(24.8d)------(5.2d)---(0|)
 *
 * Cancels: the pending hop. Errors: none. Bound: one pending action of the scheduler; below 0 counts as 0, Infinity
 * never fires.
 */
export function longTimer(clock: Clock, ms: number): Observable<0> {
  return new Observable<0>((subscriber) => {
    const dueAt = clock.monotonicMs() + Math.max(0, ms);
    const hop = () => Math.min(MAX_TIMER_MS, dueAt - clock.monotonicMs());
    return clock.scheduler.schedule(function (this: SchedulerAction<void>) {
      const left = hop();
      if (left > 0) {
        this.schedule(undefined, left);
        return;
      }
      subscriber.next(0);
      subscriber.complete();
    }, hop());
  });
}
