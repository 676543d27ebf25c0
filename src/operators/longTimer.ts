/** A timer as an Observable. */
import { Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import { Alarm } from "./alarm.ts";

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
    const alarm = new Alarm(clock, () => {
      subscriber.next(0);
      subscriber.complete();
    });
    alarm.set(ms);
    return () => alarm.stop();
  });
}
