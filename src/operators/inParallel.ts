/** Short lists of effects, all at once. */
import { from, mergeMap, type Observable } from "rxjs";

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
  return from(items).pipe(mergeMap((item) => project(item)));
}
