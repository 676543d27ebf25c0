/**
 * A bounded buffer between a fast source and what comes after it. What comes after runs from the scheduler, so it never
 * runs inside the source; to wait for asynchronous work use boundedMergeMap with `overflow: "dropOldest"`.
 */
import { type MonoTypeOperatorFunction, Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import { createFifo } from "./fifo.ts";
import { subscribeInner } from "./subscribeInner.ts";

/**
 * Emits values one per scheduler action; while more than `limit` wait the oldest are dropped.
 *
 *     source           (abcde)---f--|
 *     dropOldest(2)    (de)------f--|      a, b, c went to onDrop
 *
 * Cancels: the pending action. Errors: the source's, at once. Bound: `limit` waiting values. Completes after the last
 * waiting value.
 */
export function dropOldest<T>(limit: number, clock: Clock, onDrop?: (dropped: T) => void): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable<T>((destination) => {
      const waiting = createFifo<T>();
      let armed = false;
      let sourceEnded = false;
      const arm = () => {
        if (armed) return;
        armed = true;
        const action = clock.scheduler.schedule(() => {
          destination.remove(action);
          armed = false;
          if (waiting.size > 0) destination.next(waiting.shift() as T);
          if (waiting.size > 0) arm();
          else if (sourceEnded) destination.complete();
        });
        destination.add(action);
      };
      subscribeInner(destination, () => source$, {
        next: (value) => {
          waiting.push(value);
          if (waiting.size > limit) onDrop?.(waiting.shift() as T);
          arm();
        },
        ended: () => {
          sourceEnded = true;
          if (waiting.size === 0) destination.complete();
        },
      });
    });
}
