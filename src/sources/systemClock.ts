/**
 * The real clock: the one place where the platform's time enters. Its scheduler keeps monotonic time, so that a step of
 * the wall clock moves no timer, runs what is due at once with setImmediate (in order, after pending I/O), and waits
 * longer than the platform's 24.8 days in hops. No timer fires before it is due, as in virtual time.
 */
import { type SchedulerAction, type SchedulerLike, Subscription } from "rxjs";
import { epochMs, monotonicMs } from "../core/ids.ts";
import type { Clock } from "../ports/clock.ts";

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

/** A piece of scheduled work; scheduling it again while it is pending moves it. */
class SystemAction<T> extends Subscription implements SchedulerAction<T> {
  private readonly work: Work<T>;
  private cancelPending: () => void = () => {};

  constructor(work: Work<T>) {
    super(() => this.cancelPending());
    this.work = work;
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    this.cancelPending();
    this.arm(state, delay);
    return this;
  }

  private arm(state: T | undefined, delayMs: number): void {
    if (!(delayMs > 0)) {
      const immediate = setImmediate(() => this.run(state));
      this.cancelPending = () => clearImmediate(immediate);
    } else this.waitUntil(performance.now() + delayMs, state);
  }

  /** A timeout of the platform knows whole milliseconds alone and comes up to two too early: then it waits again. */
  private waitUntil(dueAtMs: number, state: T | undefined): void {
    const leftMs = dueAtMs - performance.now();
    const timeout = setTimeout(
      () => {
        if (performance.now() < dueAtMs) this.waitUntil(dueAtMs, state);
        else this.run(state);
      },
      Math.min(leftMs, MAX_TIMEOUT_MS),
    );
    this.cancelPending = () => clearTimeout(timeout);
  }

  private run(state: T | undefined): void {
    this.cancelPending = () => {};
    this.work.call(this, state);
  }
}

const systemScheduler: SchedulerLike = {
  now: () => performance.now(),
  schedule<T>(work: Work<T>, delay = 0, state?: T): Subscription {
    return new SystemAction(work).schedule(state, delay);
  },
};

/** Time of this machine. `monotonicMs` counts from the start of the process, with fractions. */
export const systemClock: Clock = {
  scheduler: systemScheduler,
  monotonicMs: () => monotonicMs(performance.now()),
  wallTime: () => epochMs(Date.now()),
};
