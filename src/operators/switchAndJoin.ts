/**
 * `switchMap` that joins: it signals the running phase to stop and waits for its end, so that two phases never
 * overlap. Owns the running phase and its AbortController. Upstream: the pod worker's cancel context and phase
 * change.
 */
import { Observable, type OperatorFunction, type Subscription } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** Defines a phase and its work. */
export interface SwitchAndJoinOptions<P, R> {
  /** Values with the same key (===) as the newest phase change nothing. Default: every value is a new phase. */
  key?(phase: P): unknown;
  /** Runs a phase; completes soon after `stop` is aborted. */
  run(phase: P, stop: AbortSignal): Observable<R>;
  /** Maximum time for an aborted phase to complete; then it is unsubscribed and counted as leaked. */
  readonly joinDeadlineMs: number;
  readonly clock: Clock;
  /** Called with a phase that did not end in time; its calls may still take effect. */
  onLeak?(phase: P): void;
}

interface Run<P> {
  /** The latest value of the phase. */
  phase: P;
  readonly stop: AbortController;
  subscription: Subscription | undefined;
  deadline: Subscription | undefined;
}

/**
 * Runs the newest phase; a new one aborts the running one's signal, waits for it to complete, then starts.
 *
 *     phases           a-----b-c-------|
 *     run a            x--x--~--x|           ~ aborted, still emitting
 *     run c                      y--y|       b was replaced by c during the join
 *     switchAndJoin    x--x-----xy--y--|
 *
 * Cancels: by signal first; unsubscribes a run that outlives `joinDeadlineMs`; on unsubscribe aborts and unsubscribes.
 * Errors: of source, key, run and the running phase pass through. Bound: one running, one waiting phase, newest wins.
 */
export function switchAndJoin<P, R>(options: SwitchAndJoinOptions<P, R>): OperatorFunction<P, R> {
  return (phase$) =>
    new Observable<R>((destination) => {
      const isNewPhase = phaseChanges(options);
      let waiting: { readonly phase: P } | undefined;
      let current: Run<P> | undefined;
      let sourceEnded = false;

      const start = (phase: P) => {
        const run: Run<P> = { phase, stop: new AbortController(), subscription: undefined, deadline: undefined };
        current = run;
        run.subscription = subscribeInner(destination, () => options.run(run.phase, run.stop.signal), {
          next: (value) => destination.next(value),
          ended: () => {
            run.deadline?.unsubscribe();
            if (current === run) current = undefined;
            advance();
          },
        });
      };
      const leak = (run: Run<P>) => {
        run.subscription?.unsubscribe();
        current = undefined;
        options.onLeak?.(run.phase);
        advance();
      };
      const join = (run: Run<P>) => {
        run.stop.abort();
        if (current !== run || destination.closed) return;
        run.deadline = subscribeInner(destination, () => longTimer(options.clock, options.joinDeadlineMs), {
          next: () => leak(run),
          ended: () => {},
        });
      };
      const advance = trampoline(() => {
        if (destination.closed) return false;
        if (waiting === undefined) {
          if (sourceEnded && current === undefined) destination.complete();
          return false;
        }
        if (current !== undefined) {
          if (current.stop.signal.aborted) return false;
          join(current);
          return true;
        }
        const { phase } = waiting;
        waiting = undefined;
        start(phase);
        return true;
      });

      destination.add(() => current?.stop.abort());
      subscribeInner(destination, () => phase$, {
        next: (phase) => {
          if (isNewPhase(phase)) {
            waiting = { phase };
            advance();
          } else if (waiting !== undefined) waiting = { phase };
          else if (current !== undefined) current.phase = phase;
        },
        ended: () => {
          sourceEnded = true;
          advance();
        },
      });
    });
}

/** Returns whether a phase has another key than the previous phase. Without `key` every phase is new. */
function phaseChanges<P, R>(options: SwitchAndJoinOptions<P, R>): (phase: P) => boolean {
  let newest: { readonly key: unknown } | undefined;
  return (phase) => {
    if (options.key === undefined) return true;
    const key = options.key(phase);
    const isSame = newest !== undefined && newest.key === key;
    newest = { key };
    return !isSame;
  };
}
