/**
 * The producer of RESTORE: the pods from disk, as a snapshot of the API source, when the API server does not answer in
 * time after the start. Upstream: none since the bootstrap checkpoint was removed.
 */
import { connect, defer, EMPTY, filter, merge, type Observable, of, switchMap, take, takeUntil } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { SourceSnapshot } from "../../core/pod/sourceSnapshot.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Clock } from "../../ports/clock.ts";

export interface RestoreOptions {
  /** Time that the API server has to answer after the start, in milliseconds. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** Emits the pods on disk, once they are read. */
  readonly pods$: Observable<readonly Pod[]>;
}

/**
 * Passes snapshots through, with one of the pods on disk before those of an API server that is late.
 *
 *     snapshots        f---------f-------a---
 *     restorePods(5)   f----r----f-------a---      f of another source, r the pods on disk
 *     snapshots        f-a-----
 *     restorePods(5)   f-a-----
 *
 * Cancels: with the stream. Errors: those of the snapshots and of `pods$`. Bound: one timer. Emits no restored snapshot
 * without pods.
 */
export const restorePods =
  ({ waitMs, clock, pods$ }: RestoreOptions) =>
  (snapshots$: Observable<SourceSnapshot>): Observable<SourceSnapshot> =>
    snapshots$.pipe(
      connect((live$) => {
        const answered$ = live$.pipe(filter(({ source, ready }) => source === "api" && ready !== false));
        const restored$ = longTimer(clock, waitMs).pipe(
          take(1),
          switchMap(() => pods$.pipe(take(1))),
          switchMap((pods) => defer(() => (pods.length === 0 ? EMPTY : of(restoredSnapshot(pods))))),
          takeUntil(answered$),
        );
        return merge(live$, restored$);
      }),
    );

const restoredSnapshot = (pods: readonly Pod[]): SourceSnapshot => ({
  source: "api",
  pods,
  problems: [],
  restored: true,
});
