/** Holds a value back for a while, and drops it when another makes it needless. */
import {
  connect,
  endWith,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  type OperatorFunction,
  switchMap,
  take,
  takeUntil,
  timer,
} from "rxjs";
import type { Clock } from "../ports/clock.ts";

/**
 * Replaces each `held` value by what `release` makes of it: after `ms`, or when the source completes, unless a value that
 * `replaces` it comes before. All other values pass at once.
 *
 *     source      -h--a---h--r-h-|      h held, r replaces it
 *     heldBack    ----a-H----r--(H|)    with 5 ms
 *
 * Cancels: the source and the value that waits. Errors: those of the source, at once. Bound: the newest held value waits.
 */
export const heldBack = <T, Held>(
  clock: Pick<Clock, "scheduler">,
  ms: number,
  isHeld: (value: T | Held) => value is Held,
  replaces: (value: T) => boolean,
  release: (value: Held) => T,
): OperatorFunction<T | Held, T> =>
  connect((source$) => {
    const others$ = source$.pipe(filter((value): value is T => !isHeld(value)));
    const over$ = source$.pipe(ignoreElements(), endWith(undefined));
    const released = (value: Held): Observable<T> =>
      merge(timer(ms, clock.scheduler), over$).pipe(
        take(1),
        map(() => release(value)),
        takeUntil(others$.pipe(filter(replaces))),
      );
    return merge(source$.pipe(filter(isHeld), switchMap(released)), others$);
  });
