/** Periodic work that never piles up. Its user gives the period's jitter, if any. */
import { concat, defer, ignoreElements, type Observable, repeat } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";

/**
 * Polls again and again; the next period starts when the last poll ended.
 *
 *     poll                  x----y|    x--|
 *     pollAfter             x----y-----x--------      immediately
 *                                 ^---^   ^---^       periodMs
 *
 * Cancels: the running poll, or the wait. Errors: a poll's error ends it (make it a Result inside poll). Bound: one
 * poll at a time. `periodMs` as a function is asked before every wait.
 */
export function pollAfter<T>(
  clock: Clock,
  periodMs: number | (() => number),
  poll: () => Observable<T>,
  { immediately = true }: { readonly immediately?: boolean } = {},
): Observable<T> {
  const wait = () => longTimer(clock, typeof periodMs === "number" ? periodMs : periodMs());
  const rounds$ = defer(poll).pipe(repeat({ delay: wait }));
  return immediately ? rounds$ : concat(defer(wait).pipe(ignoreElements()), rounds$);
}
