/** Bounds the number of concurrent Calls of one kind; the rest wait, first come, first served. Owns its waiters. */
import { Observable, type Subscriber } from "rxjs";
import { invariant } from "../core/invariant.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** The gate. */
export interface Semaphore {
  /** Starts the call once a slot is free. */
  run<T>(call: Call<T>): Call<T>;
  /** Number of calls that hold a slot. */
  readonly running: number;
  /** Number of calls that wait for a slot. */
  readonly waiting: number;
}

/** Maximum time for which a call holds a slot; after that it continues without one. */
export interface SemaphorePatience {
  readonly ms: number;
  readonly clock: Clock;
}

/**
 * Creates a gate for `limit` calls.
 *
 *     limit 1
 *     run(a)   [----a]
 *     run(b)         [---b]     started when a ended, or when its patience with a did
 *
 * Cancels: a waiting call gives up its place, a running one its slot, once its teardown ran. Errors: the call's own.
 * Bound: `limit` running, not counting those that outlasted the patience; all callers may wait.
 */
export const createSemaphore = (limit: number, patience?: SemaphorePatience): Semaphore => new Gate(limit, patience);

/** An object, since most gates of a node's pods are never used. */
class Gate implements Semaphore {
  private readonly limit: number;
  private readonly patience: SemaphorePatience | undefined;
  private readonly starts = new Set<() => void>();
  private readonly advance = trampoline(() => this.startNext());
  running = 0;

  constructor(limit: number, patience: SemaphorePatience | undefined) {
    invariant(limit >= 1, `semaphore with limit ${limit}`);
    this.limit = limit;
    this.patience = patience;
  }

  get waiting(): number {
    return this.starts.size;
  }

  run<T>(call: Call<T>): Call<T> {
    return new Observable<T>((subscriber) => {
      const start = () => this.start(call, subscriber);
      this.starts.add(start);
      subscriber.add(() => this.starts.delete(start));
      this.advance();
    });
  }

  private startNext(): boolean {
    if (this.running >= this.limit) return false;
    for (const start of this.starts) {
      this.starts.delete(start);
      start();
      return true;
    }
    return false;
  }

  private start<T>(call: Call<T>, subscriber: Subscriber<T>): void {
    this.running += 1;
    let holdsSlot = true;
    const releaseSlot = () => {
      if (!holdsSlot) return;
      holdsSlot = false;
      this.running -= 1;
      invariant(this.running >= 0, "more calls left a semaphore than entered it");
      this.advance();
    };
    if (this.patience !== undefined) {
      subscriber.add(longTimer(this.patience.clock, this.patience.ms).subscribe({ next: releaseSlot }));
    }
    subscribeInner(subscriber, () => call, {
      next: (value) => subscriber.next(value),
      ended: () => subscriber.complete(),
    });
    // Added after the call: the next one starts after the teardown of this one.
    subscriber.add(releaseSlot);
  }
}
