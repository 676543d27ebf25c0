/** The wall clock of a machine: it runs slightly fast or slow, and steps when an operator sets it. */
import type { SchedulerLike } from "rxjs";
import { epochMs, type EpochMs, monotonicMs } from "../../core/ids.ts";
import { SIM_EPOCH_MS, type SimClock } from "../time/simClock.ts";

/** A clock whose drift can change. */
export interface DriftingClock extends SimClock {
  /** Sets the microseconds gained per second from now on; a negative value makes the clock slow. */
  setDriftPpm(ppm: number): void;
}

const PPM = 1_000_000;

/** Creates a clock whose monotonic time is the scheduler's and whose wall clock shows `startAt` at its time 0. */
export function createDriftingClock(scheduler: SchedulerLike, startAt: EpochMs = SIM_EPOCH_MS): DriftingClock {
  let driftPpm = 0;
  let driftsSinceMs = 0;
  let aheadMs = 0;
  const gainedMs = (): number => aheadMs + ((scheduler.now() - driftsSinceMs) * driftPpm) / PPM;
  return {
    scheduler,
    monotonicMs: () => monotonicMs(scheduler.now()),
    wallTime: () => epochMs(Math.round(startAt + scheduler.now() + gainedMs())),
    stepWallBy(ms) {
      aheadMs += ms;
    },
    setDriftPpm(ppm) {
      aheadMs = gainedMs();
      driftsSinceMs = scheduler.now();
      driftPpm = ppm;
    },
  };
}
