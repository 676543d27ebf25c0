/** Requests to stop `rxlet dev`: the first stops its pods, the second does not wait for them. */
import { connect, delay, merge, type Observable, takeUntil } from "rxjs";
import type { Clock } from "../ports/clock.ts";

/** Time for pods to stop once the reader of the output is gone. */
export const UNREAD_GRACE_MS = 5_000;

/**
 * Emits each signal. The loss of the output's reader counts as a request, and as a second one after the grace. After a
 * signal it counts once, after the grace, because Ctrl-C also ends the reader of `rxlet dev | cat`.
 *
 *     signals$        ----------s--|        --s---------
 *     outputGone$     --g-----------        ----g-------
 *     output (5 ms)   --g----g--s--         --s------g--
 *
 * Cancels: the grace. Errors: passes both on. Bound: none of its own.
 */
export function stopRequests(
  signals$: Observable<unknown>,
  outputGone$: Observable<unknown>,
  clock: Pick<Clock, "scheduler">,
  graceMs = UNREAD_GRACE_MS,
): Observable<unknown> {
  const unread$ = outputGone$.pipe(
    connect((gone$) => merge(gone$.pipe(takeUntil(signals$)), gone$.pipe(delay(graceMs, clock.scheduler)))),
  );
  return merge(signals$, unread$);
}
