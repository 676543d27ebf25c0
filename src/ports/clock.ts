/** Time as an input. Durations, backoff and deadlines use monotonic time; only API timestamps use wall-clock time. */
import type { SchedulerLike } from "rxjs";
import type { EpochMs, MonotonicMs } from "../core/ids.ts";

export interface Clock {
  /** Drives every timer; virtual in tests and in the simulation. */
  readonly scheduler: SchedulerLike;
  monotonicMs(): MonotonicMs;
  wallTime(): EpochMs;
}
