/**
 * Effects of which only the newest matters: never two at once, never one cancelled half-way. State: the operator's.
 * Upstream counterpart: the pod worker's one pending update.
 */
import { Observable, type OperatorFunction } from "rxjs";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/**
 * Runs one inner at a time; of the values arriving meanwhile only the newest is kept and runs next.
 *
 *     source        a-b-c-----d--|
 *     inner         ----x|
 *     conflateMap   ----x---x---x|      b was dropped in favour of c
 *
 * Cancels: never the running inner, except with the whole stream. Errors: of source, project and inner pass through
 * (catch into a Result inside project). Bound: one running, one waiting; `onDrop` sees each value replaced unseen.
 */
export function conflateMap<T, R>(
  project: (value: T) => Observable<R>,
  onDrop?: (dropped: T) => void,
): OperatorFunction<T, R> {
  return (source$) =>
    new Observable<R>((destination) => {
      let waiting: { readonly value: T } | undefined;
      let running = false;
      let sourceEnded = false;
      const advance = trampoline(() => {
        if (running || destination.closed) return false;
        if (waiting === undefined) {
          if (sourceEnded) destination.complete();
          return false;
        }
        const { value } = waiting;
        waiting = undefined;
        running = true;
        subscribeInner(destination, () => project(value), {
          next: (result) => destination.next(result),
          ended: () => {
            running = false;
            advance();
          },
        });
        return true;
      });
      subscribeInner(destination, () => source$, {
        next: (value) => {
          const replaced = waiting;
          waiting = { value };
          if (replaced !== undefined) onDrop?.(replaced.value);
          advance();
        },
        ended: () => {
          sourceEnded = true;
          advance();
        },
      });
    });
}
