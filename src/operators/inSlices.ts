/** Splits long synchronous work, so that the event loop can run other work. */
import { Observable } from "rxjs";
import { asFailure } from "../core/errors.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";

/**
 * Runs a generator for `sliceMs` at a time, and yields to the event loop between two slices. The generator cannot be
 * interrupted between two `yield`s.
 *
 *     work        |yyy     |yyy     |y return v
 *     inSlices    ---------------------(v|)
 *
 * Cancels: the work, by `return()`. Errors: those of the work, by asFailure. Bound: one slice at a time.
 */
export function inSlices<T>(work: () => Generator<unknown, T>, sliceMs: number, clock: Clock): Call<T> {
  return new Observable<T>((subscriber) => {
    const running = work();
    const slice = function (this: { schedule(state?: undefined, delay?: number): unknown }): void {
      const until = clock.monotonicMs() + sliceMs;
      try {
        for (let step = running.next(); ; step = running.next()) {
          if (step.done === true) {
            subscriber.next(step.value);
            return subscriber.complete();
          }
          if (clock.monotonicMs() >= until) break;
        }
        this.schedule();
      } catch (thrown) {
        subscriber.error(asFailure(thrown));
      }
    };
    subscriber.add(() => void running.return(undefined as T));
    subscriber.add(clock.scheduler.schedule(slice, 0));
  });
}
