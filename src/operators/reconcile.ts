/** The level-triggered loop of a pod worker: observes, acts, and runs again after a trigger or at a due time. */
import { Observable } from "rxjs";
import { invariant } from "../core/invariant.ts";
import type { Clock } from "../ports/clock.ts";
import { Alarm } from "./alarm.ts";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** Options of reconcile. */
export interface ReconcileOptions<R> {
  /** Each emission requests one more run; emissions during a run request one more after it. */
  readonly triggers$: Observable<unknown>;
  /** A run. It decides from current state, not from the trigger. Must not error. */
  readonly run: () => Observable<R>;
  /**
   * Returns the milliseconds until the next run without a trigger, evaluated after each run; undefined waits for
   * triggers only.
   */
  readonly wakeAfterMs: () => number | undefined;
  readonly clock: Clock;
}

/**
 * Runs once per burst of triggers and once per due wake-up, never two at once.
 *
 *     triggers   t--t-t-----------
 *     run        [---][---]   [---]
 *     wake                 ---^      wakeAfterMs() after the second run
 *
 * Cancels: the current run and the timer on unsubscribe. Errors: of triggers$, run and wakeAfterMs pass on. Completes
 * when triggers$ has completed and the last run has ended. Bound: one run, one pending trigger, one timer.
 */
export function reconcile<R>({ triggers$, run, wakeAfterMs, clock }: ReconcileOptions<R>): Observable<R> {
  return new Observable<R>((destination) => {
    let pending = false;
    let running = false;
    let triggersEnded = false;
    const trigger = (): void => {
      pending = true;
      advance();
    };
    const alarm = new Alarm(clock, trigger);
    const runner: InnerObserver<R> = {
      next: (value) => destination.next(value),
      ended: () => {
        invariant(running, "a run of reconcile ended twice");
        running = false;
        advance();
      },
    };
    const advance = trampoline(() => {
      if (running || destination.closed) return false;
      alarm.stop();
      if (pending) {
        pending = false;
        running = true;
        subscribeInner(destination, run, runner);
        return false;
      }
      if (triggersEnded) destination.complete();
      else {
        const delayMs = wakeAfterMs();
        if (delayMs !== undefined) alarm.set(delayMs);
      }
      return false;
    });
    destination.add(() => alarm.stop());
    subscribeInner(destination, () => triggers$, {
      next: trigger,
      ended: () => {
        triggersEnded = true;
        advance();
      },
    });
  });
}
