/** A bound on how many Calls of one kind run at once; the rest wait first come, first served. Owns its waiters. */
import { Observable } from "rxjs";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** The gate. */
export interface Semaphore {
  /** The call, started once there is room. */
  run<T>(call: Call<T>): Call<T>;
  /** Calls that take up room. */
  readonly running: number;
  /** Calls waiting for room. */
  readonly waiting: number;
}

/** How long a call may take up room; after that it runs on beside the others. */
export interface SemaphorePatience {
  readonly ms: number;
  readonly clock: Clock;
}

/**
 * Makes a gate for `limit` calls.
 *
 *     limit 1
 *     run(a)   [----a]
 *     run(b)         [---b]     started when a ended, or when its patience with a did
 *
 * Cancels: a waiting call gives up its place, a running one its room, once its teardown ran. Errors: the call's own.
 * Bound: `limit` running, not counting those that outlasted the patience; as many wait as there are callers.
 */
export function createSemaphore(limit: number, patience?: SemaphorePatience): Semaphore {
  const waiting = new Set<() => void>();
  let running = 0;
  const advance = trampoline(() => {
    if (running >= limit) return false;
    for (const start of waiting) {
      waiting.delete(start);
      start();
      return true;
    }
    return false;
  });
  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting.size;
    },
    run: <T>(call: Call<T>) =>
      new Observable<T>((subscriber) => {
        const start = () => {
          running += 1;
          let hasRoom = true;
          const leaveRoom = () => {
            if (!hasRoom) return;
            hasRoom = false;
            running -= 1;
            advance();
          };
          if (patience !== undefined) {
            subscriber.add(longTimer(patience.clock, patience.ms).subscribe({ next: leaveRoom }));
          }
          subscribeInner(subscriber, () => call, {
            next: (value) => subscriber.next(value),
            ended: () => subscriber.complete(),
          });
          // Added after the call: the next one starts when nothing of this one is left.
          subscriber.add(leaveRoom);
        };
        waiting.add(start);
        subscriber.add(() => waiting.delete(start));
        advance();
      }),
  };
}
