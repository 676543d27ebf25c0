/**
 * Virtual time for the simulation: a binary heap ordered by due time, then by scheduling order. Works with every RxJS
 * 7.8 operator that takes a scheduler. Owns the pending actions; their number is `pending`. RxJS's own
 * VirtualTimeScheduler sorts its whole list on every push, which is too slow above some thousand timers.
 */
import { type SchedulerAction, type SchedulerLike, Subscription } from "rxjs";
import { InvariantError } from "../../core/invariant.ts";
import { NOT_PENDING, TimedHeap, type TimedItem } from "../../core/timedHeap.ts";

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

/** The heap and the current time. */
interface VirtualTime {
  readonly heap: TimedHeap<RunnableItem>;
  nowMs: number;
}

interface RunnableItem extends TimedItem {
  run(): void;
}

/** A scheduled action; rescheduling a pending action moves it. */
class HeapAction<T> extends Subscription implements SchedulerAction<T>, RunnableItem {
  dueMs = 0;
  order = 0;
  place = NOT_PENDING;
  private readonly time: VirtualTime;
  private readonly work: Work<T>;
  private state: T | undefined = undefined;

  constructor(time: VirtualTime, work: Work<T>) {
    super();
    this.time = time;
    this.work = work;
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    this.time.heap.remove(this);
    this.state = state;
    this.time.heap.push(this, this.time.nowMs + (delay > 0 ? delay : 0));
    return this;
  }

  override unsubscribe(): void {
    this.time.heap.remove(this);
    super.unsubscribe();
  }

  run(): void {
    try {
      this.work.call(this, this.state);
    } catch (thrown) {
      this.unsubscribe();
      throw thrown;
    }
  }
}

/** A scheduler whose time advances only on request. */
export interface HeapScheduler extends SchedulerLike {
  /** Number of pending actions. */
  readonly pending: number;
  /**
   * Runs the next action due by `notAfterMs` (default: unbounded) and advances time to it; returns false if there is
   * none.
   */
  runNext(notAfterMs?: number): boolean;
  /** Runs all actions due up to and including `ms`, then stops at `ms`. Time never goes back. */
  advanceTo(ms: number): void;
  /** Runs actions until none with a finite due time is left (true), or until `limit` of them ran (false). */
  runUntilIdle(limit: number): boolean;
}

/** Creates a scheduler at 0 ms. An error thrown by an action ends the call that ran it; the other actions stay. */
export function createHeapScheduler(): HeapScheduler {
  const heap = new TimedHeap<RunnableItem>();
  const time: VirtualTime = { heap, nowMs: 0 };
  let running = false;

  const runFirst = (notAfterMs: number): boolean => {
    const action = heap.first();
    if (action === undefined || action.dueMs > notAfterMs || action.dueMs === Infinity) return false;
    if (running) throw new InvariantError("virtual time is moved from inside a scheduled action");
    heap.remove(action);
    time.nowMs = action.dueMs;
    running = true;
    try {
      action.run();
    } finally {
      running = false;
    }
    return true;
  };

  return {
    now: () => time.nowMs,
    schedule: <T>(work: Work<T>, delay = 0, state?: T) => new HeapAction(time, work).schedule(state, delay),
    get pending() {
      return heap.size;
    },
    runNext: (notAfterMs = Infinity) => runFirst(notAfterMs),
    advanceTo(ms) {
      while (runFirst(ms));
      time.nowMs = Math.max(time.nowMs, ms);
    },
    runUntilIdle(limit) {
      for (let ran = 0; ran < limit; ran += 1) {
        if (!runFirst(Infinity)) return true;
      }
      return (heap.first()?.dueMs ?? Infinity) === Infinity;
    },
  };
}
