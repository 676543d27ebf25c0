/** A token bucket as a gate that many callers share, first come, first served. Owns its queue of waiters. */
import { Observable, type Subscriber, type Subscription } from "rxjs";
import { invariant } from "../core/invariant.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";

/** Rate and depth of a bucket. */
export interface TokenBucketOptions {
  /** Tokens per second; 0 or less: no limit. */
  readonly qps: number;
  /** Number of tokens in a full bucket; it starts full. */
  readonly burst: number;
  readonly clock: Clock;
}

/** The gate of a bucket. */
export interface TokenBucket {
  /** Waits for a token: emits once, then completes. */
  acquire(): Call<void>;
  /** Number of waiting callers. */
  readonly waiting: number;
}

/** Tokens are counted in fractions of a millisecond of refill; less than this is rounding. */
const ROUNDING_MS = 1e-6;

/**
 * Creates a full bucket.
 *
 *     qps 1, burst 2
 *     acquire      (abc)--------d
 *     emits        (ab) 1s c 1s d
 *
 * Cancels: a waiter that leaves takes no token. Errors: none. Bound: the number of callers; each waits at most (its
 * place in the queue) / qps.
 */
export function tokenBucket({ qps, burst, clock }: TokenBucketOptions): TokenBucket {
  invariant(!Number.isNaN(qps) && !Number.isNaN(burst), "token bucket without a rate or a depth");
  const tokenMs = 1000 / qps;
  const depthMs = (Math.max(1, burst) - 1) * tokenMs;
  const waiters = new Set<Subscriber<void>>();
  // Time when the bucket will be full again, plus one token; a token is free once this is no further away than its
  // depth.
  let fullAt: number = clock.monotonicMs();
  let timer: Subscription | undefined;

  const waitMs = () => fullAt - depthMs - clock.monotonicMs();
  const grant = (waiter: Subscriber<void>) => {
    waiter.next();
    waiter.complete();
  };
  const serve = () => {
    timer = undefined;
    for (const waiter of waiters) {
      if (waitMs() > ROUNDING_MS) break;
      waiters.delete(waiter);
      // Count from the instant the token was due, not from now, to compensate for rounding and late timers.
      fullAt += tokenMs;
      grant(waiter);
    }
    arm();
  };
  const arm = () => {
    if (timer !== undefined || waiters.size === 0) return;
    timer = longTimer(clock, Math.ceil(waitMs() - ROUNDING_MS)).subscribe({ next: serve });
  };
  return {
    get waiting() {
      return waiters.size;
    },
    acquire: () =>
      new Observable<void>((subscriber) => {
        if (!(qps > 0)) {
          grant(subscriber);
          return;
        }
        if (waiters.size === 0 && waitMs() <= ROUNDING_MS) {
          fullAt = Math.max(fullAt, clock.monotonicMs()) + tokenMs;
          grant(subscriber);
          return;
        }
        waiters.add(subscriber);
        subscriber.add(() => {
          waiters.delete(subscriber);
          if (waiters.size > 0) return;
          timer?.unsubscribe();
          timer = undefined;
        });
        arm();
      }),
  };
}
