/**
 * Keeps a source running: sources neither error nor complete while the kubelet runs. Owns the count of consecutive
 * failures. Reports through callbacks; commands/superviseSource.ts turns the reports into log lines and metrics. Bound:
 * one subscription and one timer.
 */
import { Observable } from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import { type BackoffCurve, backoffDelay } from "./backoffDelay.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";

/** The restart of a source that ended. */
export interface SourceRestart {
  /** The error of the source, or one that says that it completed. */
  readonly error: KubeletError;
  /** Delay until the restart. */
  readonly delayMs: number;
}

/** Options of a supervised source. */
export interface SuperviseOptions {
  /** `resetAfterMs`: a run at least this long resets the backoff. */
  readonly backoff: BackoffCurve & { readonly resetAfterMs: number };
  readonly clock: Clock;
  readonly rng: Rng;
  onRestart?(restart: SourceRestart): void;
  /**
   * Reports health as a value: why the source is down; undefined once it emitted again, or ran for `resetAfterMs`.
   */
  onHealth?(problem: KubeletError | undefined): void;
}

/**
 * Runs the source that a factory creates, again after every end, with a doubling delay.
 *
 *     first run     --a--#
 *     second run             b--|
 *     supervise     --a------b-------...
 *
 * Cancels: the run, or the wait. Errors: only InvariantError, which is fatal; any other error or completion is a
 * restart. Bound: one run at a time, at most one restart per `initialMs`.
 */
export function supervise<T>(name: string, factory: () => Observable<T>, options: SuperviseOptions): Observable<T> {
  const { backoff, clock, rng } = options;
  return new Observable<T>((destination) => {
    let failures = 0;
    let healthy = true;

    const setHealth = (problem: KubeletError | undefined) => {
      if (healthy && problem === undefined) return;
      healthy = problem === undefined;
      options.onHealth?.(problem);
    };
    const restart = (error: KubeletError, ranMs: number) => {
      failures = ranMs >= backoff.resetAfterMs ? 1 : failures + 1;
      const delayMs = backoffDelay(backoff, failures, rng);
      setHealth(error);
      options.onRestart?.({ error, delayMs });
      subscribeInner(destination, () => longTimer(clock, delayMs), { next: () => {}, ended: run });
    };
    const run = () => {
      const startedAt = clock.monotonicMs();
      const ranWell = subscribeInner(destination, () => longTimer(clock, backoff.resetAfterMs), {
        next: () => setHealth(undefined),
        ended: () => {},
      });
      const goneBecause = (error: KubeletError) => {
        ranWell.unsubscribe();
        restart(error, clock.monotonicMs() - startedAt);
      };
      subscribeInner(destination, factory, {
        next: (value) => {
          setHealth(undefined);
          destination.next(value);
        },
        ended: () => goneBecause(kubeletError("Unavailable", `source ${name} ended`)),
        failed: (thrown) => goneBecause(toKubeletError(thrown)),
      });
    };
    run();
  });
}
