/**
 * Virtual time for the simulation: a binary heap ordered by due time, then first scheduled first. Works with every RxJS
 * 7.8 operator that takes a scheduler. Owns the pending actions; their number is `pending`. RxJS's own
 * VirtualTimeScheduler sorts its whole list on every push, too slow beyond some thousand timers.
 */
import { type SchedulerAction, type SchedulerLike, Subscription } from "rxjs";
import { InvariantError } from "../../core/invariant.ts";
import { NOT_PENDING, TimedHeap, type TimedItem } from "../../core/timedHeap.ts";

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

/** The heap and where time stands. */
interface VirtualTime {
  readonly heap: TimedHeap<RunnableItem>;
  nowMs: number;
}

interface RunnableItem extends TimedItem {
  run(): void;
}

/** A piece of scheduled work; scheduling it again while it is pending moves it. */
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

/** A scheduler whose time moves only when told to. */
export interface HeapScheduler extends SchedulerLike {
  /** Actions waiting to run. */
  readonly pending: number;
  /** Runs the next action due by `notAfterMs` (default: ever) and moves time to it; false when there is none. */
  runNext(notAfterMs?: number): boolean;
  /** Runs what is due up to and including `ms`, then stands there. Time never goes back. */
  advanceTo(ms: number): void;
  /** Runs actions until none is left that ever comes due (true), or until `limit` of them ran (false). */
  runUntilIdle(limit: number): boolean;
}

/** Makes a scheduler standing at 0 ms. An action's throw ends the call that ran it; the other actions stay. */
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
