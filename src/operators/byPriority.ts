/** Runs work on keys in the order of `core/workQueue.ts`. Owns the queue and one timer. */
import { EMPTY, Observable, type OperatorFunction, type Subscription } from "rxjs";
import {
  emptyWorkQueue,
  nextWork,
  reduceWork,
  type Urgent,
  type WorkEvent,
  type WorkOutcome,
} from "../core/workQueue.ts";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import { type BackoffCurve, backoffDelay } from "./backoffDelay.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** The work, and its bounds. */
export interface ByPriorityOptions<K> {
  /** A piece of work, decided from current state. Must not error; emits at most once. */
  readonly work: (key: K) => Observable<WorkOutcome>;
  /** Maximum number of concurrent pieces of work. */
  readonly limit: number;
  /** A turn of the rate limit: completes when work may start; the key is chosen only then. Default: at once. */
  readonly turn?: () => Observable<unknown>;
  readonly backoff: BackoffCurve;
  /** Emits when the server is reachable again: waiting keys are tried at once. Default: never. */
  readonly returns$?: Observable<unknown>;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Called with the number of waiting keys whenever it changes. */
  readonly onDepth?: (waiting: number) => void;
}

/**
 * Works on each key of the source, at the rate of `turn`. A key that comes again during its work is worked on once
 * more; a key that comes again while it waits for a retry waits no longer.
 *
 *     source   a2-b1-c2--------       limit 1
 *     work     [a2   ][b1][c2]        b overtakes
 *     away     #----a#--------b[a][c] one try at a time, each with another key, until the server answers or returns
 *
 * Emits nothing. Cancels: all work under way and the timer. Errors: of source and work pass on. Completes when the
 * source did and nothing is under way or waits. Bound: `limit` pieces under way, one entry per key, one timer, one
 * requested turn.
 */
export function byPriority<K>(options: ByPriorityOptions<K>): OperatorFunction<Urgent<K>, never> {
  const { work, limit, backoff, clock, rng, onDepth, turn = () => EMPTY, returns$ = EMPTY } = options;
  return (source$) =>
    new Observable<never>((destination) => {
      let queue = emptyWorkQueue<K>();
      let timer: Subscription | undefined;
      let sourceEnded = false;
      const delayMs = (failures: number): number => backoffDelay(backoff, failures, rng);
      const apply = (event: WorkEvent<K>): void => {
        const depth = queue.waiting.size;
        queue = reduceWork(queue, event);
        if (queue.waiting.size !== depth) onDepth?.(queue.waiting.size);
      };
      const note = (event: WorkEvent<K>): void => {
        apply(event);
        advance();
      };
      const start = (key: K): void => {
        apply({ kind: "started", key });
        let outcome: WorkOutcome | undefined;
        subscribeInner(destination, () => work(key), {
          next: (value) => (outcome = value),
          ended: () => note({ kind: "ended", key, outcome, nowMs: clock.monotonicMs(), delayMs }),
        });
      };
      const arm = (ms: number | undefined): void => {
        timer?.unsubscribe();
        timer =
          ms === undefined
            ? undefined
            : subscribeInner(destination, () => longTimer(clock, ms), { next: advance, ended: () => {} });
      };
      const advance = trampoline(() => {
        if (destination.closed) return false;
        if (sourceEnded && queue.running.size + queue.waiting.size === 0) destination.complete();
        const nowMs = clock.monotonicMs();
        const step = nextWork(queue, limit, nowMs);
        if (step.kind === "start") start(step.key);
        if (step.kind === "wait") arm(step.untilMs === undefined ? undefined : step.untilMs - nowMs);
        if (step.kind === "askTurn") {
          apply({ kind: "turnAsked" });
          subscribeInner(destination, turn, { next: () => {}, ended: () => note({ kind: "turnGiven" }) });
        }
        return step.kind === "start";
      });
      subscribeInner(destination, () => returns$, { next: () => note({ kind: "returned" }), ended: () => {} });
      subscribeInner(destination, () => source$, {
        next: ({ key, priority }) => note({ kind: "added", key, priority }),
        ended: () => {
          sourceEnded = true;
          advance();
        },
      });
    });
}
