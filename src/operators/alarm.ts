/**
 * A timer of any length, also for repeated work: setting it again after it fired allocates nothing. The platform's
 * timers fire at once beyond 2^31 - 1 ms (24.8 days).
 */
import type { SchedulerAction, Subscription } from "rxjs";
import { invariant } from "../core/invariant.ts";
import type { Clock } from "../ports/clock.ts";
import { inStage, ownerStage, type Stage } from "./loopStage.ts";

/** The longest single hop, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Fires once after each `set`, unless it is stopped before. Bound: one pending action of the scheduler. */
export class Alarm {
  private readonly clock: Clock;
  private readonly ring: () => void;
  /** The stage that created the alarm; setting it again does not change its owner. */
  private readonly stage: Stage | undefined = ownerStage();
  private dueAt = 0;
  private pending: Subscription | undefined;
  /** An action that has run and can be scheduled again. */
  private spent: SchedulerAction<Alarm> | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.clock = clock;
    this.ring = ring;
  }

  /**
   * Fires `ms` from now, for any length, instead of at the earlier time. Below 0 counts as 0, at Infinity it never
   * fires.
   */
  set(ms: number): void {
    invariant(!Number.isNaN(ms), "a timer is set to NaN");
    this.pending?.unsubscribe();
    this.dueAt = this.clock.monotonicMs() + Math.max(0, ms);
    const hopMs = this.hop();
    this.pending = this.spent?.schedule(this, hopMs) ?? this.clock.scheduler.schedule(arrive, hopMs, this);
    this.spent = undefined;
  }

  /** Cancels the alarm until it is set again. */
  stop(): void {
    this.pending?.unsubscribe();
    this.pending = undefined;
  }

  /** Called at the end of the timer, or at the end of a hop of a long one. */
  arrived(action: SchedulerAction<Alarm>): void {
    const left = this.hop();
    if (left > 0) {
      action.schedule(this, left);
      return;
    }
    this.pending = undefined;
    this.spent = action;
    inStage(this.stage, this.ring);
  }

  private hop(): number {
    return Math.min(MAX_TIMER_MS, this.dueAt - this.clock.monotonicMs());
  }
}

function arrive(this: SchedulerAction<Alarm>, alarm?: Alarm): void {
  alarm?.arrived(this);
}
