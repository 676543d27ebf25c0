/**
 * Runs periodic work that never piles up. Its caller adds jitter to the period, if any. `repeat({ delay })` would create each
 * timer on behalf of the code that ends the poll; here every timer belongs to the stage that started the polling, which a
 * report of a stalled event loop names.
 */
import { Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import { Alarm } from "./alarm.ts";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";

/**
 * Polls repeatedly; the next period starts when the last poll ended.
 *
 *     poll                  x----y|    x--|
 *     pollAfter             x----y-----x--------      immediately
 *                                 ^---^   ^---^       periodMs
 *
 * Cancels: the running poll, or the wait. Errors: a poll's error ends the stream (make it a Result inside poll).
 * Bound: one poll at a time. A function `periodMs` is evaluated before every wait.
 */
export function pollAfter<T>(
  clock: Clock,
  periodMs: number | (() => number),
  poll: () => Observable<T>,
  { immediately = true }: { readonly immediately?: boolean } = {},
): Observable<T> {
  return new Observable<T>((destination) => {
    const rest = new Alarm(clock, () => round());
    const wait = (): void => rest.set(typeof periodMs === "number" ? periodMs : periodMs());
    const poller: InnerObserver<T> = { next: (value) => destination.next(value), ended: wait };
    const round = (): unknown => subscribeInner(destination, poll, poller);
    destination.add(() => rest.stop());
    if (immediately) round();
    else wait();
  });
}
