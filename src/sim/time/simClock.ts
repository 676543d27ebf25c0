/** A clock on virtual time whose wall clock is a thing apart: it can step, forth and back, while durations go on. */
import type { SchedulerLike } from "rxjs";
import { epochMs, type EpochMs, monotonicMs } from "../../core/ids.ts";
import type { Clock } from "../../ports/clock.ts";

/** The clock of a simulated node. */
export interface SimClock extends Clock {
  /** Sets the wall clock forward, or back with a negative number, as an operator or NTP would. */
  stepWallBy(ms: number): void;
}

/** 2026-01-01T00:00:00Z, where simulated wall clocks start unless told otherwise. */
export const SIM_EPOCH_MS: EpochMs = epochMs(1_767_225_600_000);

/** Makes a clock whose monotonic time is the scheduler's and whose wall clock shows `startAt` at its time 0. */
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
