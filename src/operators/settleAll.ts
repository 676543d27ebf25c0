/**
 * Runs several calls at once and keeps what succeeds. `forkJoin` with `deadline`, `catchError` and `defaultIfEmpty` per
 * call does the same with six subscribers and a timer per call: 3 % of the CPU time of an idle simulated node.
 */
import { Observable } from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";

/** Calls by name. */
export type NamedCalls<Results> = { readonly [Name in keyof Results]: Call<Results[Name]> };

/** The results of the calls that succeeded in time; those of the others are undefined. */
export type Settled<Results> = { readonly [Name in keyof Results]: Results[Name] | undefined };

/** Options of `settleAll`. */
export interface SettleOptions {
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Called with the error of each call that fails, or does not end in time. */
  readonly onFailure: (error: KubeletError) => void;
}

/**
 * Emits the results by name once all calls have ended, at the latest at the deadline.
 *
 *     a           --1|
 *     b           ----#
 *     settleAll   ----(r|)      r = { a: 1 }
 *
 * Cancels: all calls; at the deadline those that have not ended. Errors: none; failures go to `onFailure`. Bound: the
 * given calls and one timer, which is not set if all calls end at once.
 */
export const settleAll = <Results extends object>(
  calls: NamedCalls<Results>,
  { deadlineMs, clock, onFailure }: SettleOptions,
): Observable<Settled<Results>> =>
  new Observable<Settled<Results>>((destination) => {
    const settled = {} as { -readonly [Name in keyof Results]: Results[Name] | undefined };
    const names = Object.keys(calls) as (keyof Results)[];
    const open = new Set(names);
    const finish = (): void => {
      destination.next(settled);
      destination.complete();
    };
    const end = (name: keyof Results): void => {
      open.delete(name);
      if (open.size === 0) finish();
    };
    for (const name of names) {
      subscribeInner(destination, () => calls[name], {
        next: (result) => (settled[name] = result),
        ended: () => end(name),
        failed: (thrown) => {
          onFailure(toKubeletError(thrown));
          end(name);
        },
      });
    }
    if (names.length === 0) finish();
    const giveUp = (): void => {
      for (const name of open) {
        onFailure(kubeletError("DeadlineExceeded", `${String(name)}: no end within ${deadlineMs} ms`));
      }
      finish();
    };
    subscribeInner(destination, () => longTimer(clock, deadlineMs), { next: giveUp, ended: () => {} });
  });
