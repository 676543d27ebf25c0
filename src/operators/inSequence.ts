/** Short lists of effects, one after the other. */
import { concatMap, from, type Observable } from "rxjs";

/**
 * Runs `project` for each item in order; the next begins when the one before has completed.
 *
 *     items [a, b]
 *     output   --A1-A2|--B1|
 *
 * Cancels: the current one, and the rest never start. Errors: pass on and end it. Bound: one at a time; meant for the
 * handful of steps of one pod (synchronous projections of more than some hundred items would recurse).
 */
export function inSequence<T, R>(items: readonly T[], project: (item: T) => Observable<R>): Observable<R> {
  return from(items).pipe(concatMap(project));
}
