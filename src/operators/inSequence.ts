/** Runs lists of effects one after the other. */
import { EMPTY, Observable } from "rxjs";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/**
 * Runs `project` for each item in order; the next begins when the one before has completed. Items that project to `EMPTY`
 * cost nothing: steps that find nothing to do should answer just that.
 *
 *     items [a, b]
 *     output   --A1-A2|--B1|
 *
 * Cancels: the current one, and the rest never start. Errors: pass on and end it. Bound: one at a time.
 */
export function inSequence<T, R>(items: readonly T[], project: (item: T) => Observable<R>): Observable<R> {
  if (items.length === 0) return EMPTY;
  return new Observable<R>((destination) => {
    const left = items.values();
    let running = false;
    const advance = trampoline(() => {
      if (running || destination.closed) return false;
      const { done, value } = left.next();
      if (done === true) {
        destination.complete();
        return false;
      }
      const inner$ = project(value);
      if (inner$ === EMPTY) return true;
      running = true;
      subscribeInner(destination, () => inner$, {
        next: (result) => destination.next(result),
        ended: () => {
          running = false;
          advance();
        },
      });
      return true;
    });
    advance();
  });
}
