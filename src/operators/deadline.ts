/** A time limit for a stream; every wait has one. */
import { type MonoTypeOperatorFunction, Observable } from "rxjs";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";

/**
 * Passes a stream through, and errors unless it completes within `ms` of its subscription.
 *
 *     source              --a-----b-----|
 *     deadline(6 ms)      --a---#
 *
 * Cancels: the source, at the deadline. Errors: `makeError()`, by default a KubeletError DeadlineExceeded; the
 * source's own pass through. Bound: one timer. Completing in the very millisecond of the deadline is in time if the
 * source was scheduled first.
 */
export function deadline<T>(
  ms: number,
  clock: Clock,
  makeError: () => KubeletError = () => kubeletError("DeadlineExceeded", `no end within ${ms} ms`),
): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable<T>((destination) => {
      subscribeInner(destination, () => source$, {
        next: (value) => destination.next(value),
        ended: () => destination.complete(),
      });
      subscribeInner(destination, () => longTimer(clock, ms), {
        next: () => destination.error(makeError()),
        ended: () => {},
      });
    });
}
