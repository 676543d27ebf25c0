/**
 * The real clock: the one place where the platform's time enters. Its scheduler keeps monotonic time, so that a step of
 * the wall clock moves no timer. Work with a delay runs in the order in which it is due, never early; work without one
 * runs with setImmediate, in order and after pending I/O. One platform timer serves all delays: separate ones know
 * whole milliseconds only and may change the order of two that are due within the same millisecond.
 */
import { type SchedulerAction, type SchedulerLike, Subscription } from "rxjs";
import { epochMs, monotonicMs } from "../core/ids.ts";
import { NOT_PENDING, TimedHeap, type TimedItem } from "../core/timedHeap.ts";
import { inStage, ownerStage, type Stage } from "../operators/loopStage.ts";
import type { Clock } from "../ports/clock.ts";

/** The platform's longest timeout, 24.8 days. A longer wait takes several. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** Due work runs for this long in one turn of the event loop; the rest lets I/O pass first. */
const MAX_TURN_MS = 10;

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

interface RunnableItem extends TimedItem {
  run(): void;
}

/** Pending actions by due time, and their one platform timer. Bound: one entry per pending action. */
class Waiting {
  private readonly heap = new TimedHeap<RunnableItem>();
  private wakesAtMs = Infinity;
  private cancelWake: () => void = () => {};

  add(item: RunnableItem, dueMs: number): void {
    this.heap.push(item, dueMs);
    if (dueMs < this.wakesAtMs) this.wakeForFirst();
  }

  /** An empty heap keeps no timer, so that the process can end. */
  remove(item: RunnableItem): void {
    if (item.place === NOT_PENDING) return;
    this.heap.remove(item);
    if (this.heap.size === 0) this.wakeForFirst();
  }

  private wakeForFirst(): void {
    this.cancelWake();
    const dueMs = this.heap.first()?.dueMs ?? Infinity;
    this.wakesAtMs = dueMs;
    if (dueMs === Infinity) {
      this.cancelWake = () => {};
      return;
    }
    const leftMs = dueMs - performance.now();
    if (leftMs > 0) {
      const timeout = setTimeout(() => this.runDue(), Math.min(leftMs, MAX_TIMEOUT_MS));
      this.cancelWake = () => clearTimeout(timeout);
    } else {
      const immediate = setImmediate(() => this.runDue());
      this.cancelWake = () => clearImmediate(immediate);
    }
  }

  /** A throw ends this turn; the other actions run in the next one. */
  private runDue(): void {
    const startedAtMs = performance.now();
    // Work that this turn adds sets no timer of its own.
    this.wakesAtMs = -Infinity;
    try {
      for (let nowMs = startedAtMs; nowMs - startedAtMs < MAX_TURN_MS; nowMs = performance.now()) {
        const item = this.heap.first();
        if (item === undefined || item.dueMs > nowMs) return;
        this.heap.remove(item);
        item.run();
      }
    } finally {
      this.wakeForFirst();
    }
  }
}

const waiting = new Waiting();

/** Stage of work that was scheduled outside any stage. */
const TIMER: Stage = { kind: "timer", text: "timer" };

/** A piece of scheduled work; scheduling it again while it is pending moves it. */
class SystemAction<T> extends Subscription implements SchedulerAction<T>, RunnableItem {
  dueMs = 0;
  order = 0;
  place = NOT_PENDING;
  private readonly work: Work<T>;
  private state: T | undefined = undefined;
  private immediate: NodeJS.Immediate | undefined = undefined;
  /** The stage that scheduled the work. */
  private stage: Stage = TIMER;

  constructor(work: Work<T>) {
    super();
    this.work = work;
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    this.cancel();
    this.state = state;
    this.stage = ownerStage() ?? TIMER;
    if (delay > 0) waiting.add(this, performance.now() + delay);
    else this.immediate = setImmediate(() => this.run());
    return this;
  }

  override unsubscribe(): void {
    this.cancel();
    super.unsubscribe();
  }

  run(): void {
    this.immediate = undefined;
    inStage(this.stage, () => this.work.call(this, this.state));
  }

  private cancel(): void {
    waiting.remove(this);
    if (this.immediate !== undefined) clearImmediate(this.immediate);
    this.immediate = undefined;
  }
}

const systemScheduler: SchedulerLike = {
  now: () => performance.now(),
  schedule<T>(work: Work<T>, delay = 0, state?: T): Subscription {
    return new SystemAction(work).schedule(state, delay);
  },
};

/** Calls back at the end of this turn of the event loop, after the microtasks that are pending or follow from them. */
export function atTurnEnd(ended: () => void): void {
  // Node runs nextTick callbacks once no microtask is left.
  queueMicrotask(() => process.nextTick(ended));
}

/** Returns the present time of CLOCK_MONOTONIC in microseconds, which other processes of the machine know, too. */
export const monotonicMicros = (): bigint => process.hrtime.bigint() / 1_000n;

/** Time of this machine. `monotonicMs` counts from the start of the process, with fractions. */
export const systemClock: Clock = {
  scheduler: systemScheduler,
  monotonicMs: () => monotonicMs(performance.now()),
  wallTime: () => epochMs(Date.now()),
};
