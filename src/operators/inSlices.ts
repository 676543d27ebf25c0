/** Long synchronous work beside everything else the event loop has to do. */
import { Observable } from "rxjs";
import { asFailure } from "../core/errors.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";

/**
 * Runs a generator for `sliceMs` at a time, and lets others have the event loop between two slices. Between two `yield`s
 * it cannot be interrupted.
 *
 *     work        |yyy     |yyy     |y return v
 *     inSlices    ---------------------(v|)
 *
 * Cancels: the work, which is told by `return()`. Errors: what the work throws, by asFailure. Bound: one slice at a time.
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
