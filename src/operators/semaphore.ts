/** A bound on how many Calls of one kind run at once; the rest wait first come, first served. Owns its waiters. */
import { Observable } from "rxjs";
import type { Call } from "../ports/call.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** The gate. */
export interface Semaphore {
  /** The call, started once there is room. */
  run<T>(call: Call<T>): Call<T>;
  readonly running: number;
  /** Calls waiting for room. */
  readonly waiting: number;
}

/**
 * Makes a gate for `limit` calls.
 *
 *     limit 1
 *     run(a)   [----a]
 *     run(b)         [---b]     started when a ended
 *
 * Cancels: a waiting call gives up its place, a running one its room, once its teardown ran. Errors: the call's own.
 * Bound: `limit` running; as many wait as there are callers.
 */
export function createSemaphore(limit: number): Semaphore {
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
          subscribeInner(subscriber, () => call, {
            next: (value) => subscriber.next(value),
            ended: () => subscriber.complete(),
          });
          // Added after the call: the next one starts when nothing of this one is left.
          subscriber.add(() => {
            running -= 1;
            advance();
          });
        };
        waiting.add(start);
        subscriber.add(() => waiting.delete(start));
        advance();
      }),
  };
}
