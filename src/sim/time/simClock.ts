/**
 * A clock on virtual time with an independent wall clock, which can step forward and back without affecting
 * durations.
 */
import type { SchedulerLike } from "rxjs";
import { epochMs, type EpochMs, monotonicMs } from "../../core/ids.ts";
import type { Clock } from "../../ports/clock.ts";

/** The clock of a simulated node. */
export interface SimClock extends Clock {
  /** Sets the wall clock forward, or back by a negative number, as an operator or NTP does. */
  stepWallBy(ms: number): void;
}

/** 2026-01-01T00:00:00Z, the default start of simulated wall clocks. */
export const SIM_EPOCH_MS: EpochMs = epochMs(1_767_225_600_000);

/** Creates a clock whose monotonic time is the scheduler's and whose wall clock shows `startAt` at time 0. */
export function createSimClock(scheduler: SchedulerLike, startAt: EpochMs = SIM_EPOCH_MS): SimClock {
  let steppedMs = 0;
  return {
    scheduler,
    monotonicMs: () => monotonicMs(scheduler.now()),
    wallTime: () => epochMs(Math.round(startAt + scheduler.now() + steppedMs)),
    stepWallBy(ms) {
      steppedMs += ms;
    },
  };
}
