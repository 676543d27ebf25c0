/** Short lists of effects, all at once. */
import { EMPTY, Observable } from "rxjs";
import { subscribeInner } from "./subscribeInner.ts";

/**
 * Runs `project` for all items at the same time and merges what they emit.
 *
 *     items [a, b]
 *     a        --A1----A2|
 *     b        ----B1|
 *     output   --A1B1--A2|
 *
 * Cancels: all of them. Errors: the first one ends it. Bound: the length of the list; meant for the parts of one pod.
 */
export function inParallel<T, R>(items: readonly T[], project: (item: T) => Observable<R>): Observable<R> {
  if (items.length === 0) return EMPTY;
  return new Observable<R>((destination) => {
    let left = items.length;
    const observer = {
      next: (value: R) => destination.next(value),
      ended: () => {
        left -= 1;
        if (left === 0) destination.complete();
      },
    };
    for (const item of items) subscribeInner(destination, () => project(item), observer);
  });
}
