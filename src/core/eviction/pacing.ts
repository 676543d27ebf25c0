/**
 * When a figure with eviction thresholds is due to be measured again. A figure far from its thresholds is measured
 * rarely, one that could cross a threshold soon often. docs/decisions/0006-paced-pressure.md has the reasons for the
 * constants. Upstream measures all figures every 10 s.
 *
 *     distance / steepest plausible fall          0        1 s      5 s      >= 9.1 s
 *     next look after                             900 ms   1.9 s    5.9 s    10 s
 *     half the time until the observed fall crosses: earlier, down to 200 ms
 */
import type { MonotonicMs } from "../ids.ts";
import { perObject } from "../perObject.ts";
import type { Observation, Observations } from "./observations.ts";
import { amountOf, type Signal, type Threshold } from "./thresholds.ts";

/** Pause between looks at a figure that is far from every threshold, or cannot be measured. */
export const FAR_MS = 10_000;
/** Longest time between the earliest plausible crossing and the next look: the delay of a burst that gave no warning. */
export const BURST_MS = 900;
/** Pause when the observed fall is about to cross a threshold. */
export const CLOSE_MS = 200;
/** Pause while all thresholds of a signal are met: a second crossing is noticed after the first has ended. */
export const MET_MS = 1_000;
/** Looks are due at multiples of this time, so that the looks at different figures share a wakeup of the process. */
const GRID_MS = 100;
/** The observed fall counts double: it may accelerate. */
const MARGIN = 2;

/** Processes of one CPU can write this many bytes to new memory, four times the measured rate of 1 GiB/s. */
const MEMORY_PER_CPU_MS = (4 * 1024 ** 3) / 1_000;
/** A CPU can create this many processes; 74 per millisecond were measured. */
const PIDS_PER_CPU_MS = 100;
/** A disk takes this many bytes. A single `fallocate` is faster; a look finds it after 10 s at most. */
const DISK_BYTES_PER_MS = (8 * 1024 ** 3) / 1_000;
/** A file system creates this many files, eight times the measured rate of ext4. */
const INODES_PER_MS = 500;

/** Returns the steepest plausible fall of a signal per millisecond. */
export function steepestFallPerMs(signal: Signal, cpuCount: number): number {
  switch (signal) {
    case "memory.available":
    case "allocatableMemory.available":
      return MEMORY_PER_CPU_MS * cpuCount;
    case "pid.available":
      return PIDS_PER_CPU_MS * cpuCount;
    case "nodefs.available":
    case "imagefs.available":
    case "containerfs.available":
      return DISK_BYTES_PER_MS;
    case "nodefs.inodesFree":
    case "imagefs.inodesFree":
    case "containerfs.inodesFree":
      return INODES_PER_MS;
  }
}

/** Findings of the last look at a signal. */
export interface Pace {
  readonly at: MonotonicMs;
  readonly available: number;
  /** Observed fall per millisecond; an earlier fall counts half as much with each look. */
  readonly fallPerMs: number;
  /** The thresholds that were met. */
  readonly met: readonly Threshold[];
}

/** Paces by signal. */
export type Paces = ReadonlyMap<Signal, Pace>;

/** Result of a look. */
export interface PacedLook {
  readonly paces: Paces;
  /** Signals that met a threshold which the look before did not. */
  readonly crossed: readonly Signal[];
  /** Time until the next look at the figure. */
  readonly nextInMs: number;
}

/** Grouped once: looks are frequent. */
const bySignal = perObject(
  (thresholds: readonly Threshold[]): ReadonlyMap<Signal, readonly Threshold[]> =>
    Map.groupBy(thresholds, ({ signal }) => signal),
);

/** Returns the time until the next look at a figure that could not be measured. */
export const afterNoLookMs = (now: MonotonicMs): number => onGrid(now, FAR_MS);

/** Evaluates a look at the signals of one figure at `now`. Without an observation the earlier paces stay. */
export function pacedLook(
  before: Paces,
  thresholds: readonly Threshold[],
  observations: Observations,
  { now, cpuCount }: { readonly now: MonotonicMs; readonly cpuCount: number },
): PacedLook {
  const paces = new Map(before);
  const crossed: Signal[] = [];
  let nextInMs = FAR_MS;
  for (const [signal, observation] of observations) {
    const own = bySignal(thresholds).get(signal);
    if (own === undefined) continue;
    const last = before.get(signal);
    const pace = paceOf(last, own, observation, now);
    paces.set(signal, pace);
    if (pace.met.some((threshold) => last?.met.includes(threshold) !== true)) crossed.push(signal);
    nextInMs = Math.min(nextInMs, lookInMs(pace, own, observation, steepestFallPerMs(signal, cpuCount)));
  }
  return { paces, crossed, nextInMs: onGrid(now, nextInMs) };
}

function paceOf(
  last: Pace | undefined,
  thresholds: readonly Threshold[],
  { available, capacity }: Observation,
  now: MonotonicMs,
): Pace {
  const met = thresholds.filter(({ least }) => available < amountOf(least, capacity));
  if (last === undefined || now <= last.at) return { at: now, available, met, fallPerMs: last?.fallPerMs ?? 0 };
  const fallPerMs = Math.max((last.available - available) / (now - last.at), last.fallPerMs / 2);
  return { at: now, available, met, fallPerMs };
}

function lookInMs(
  { available, met, fallPerMs }: Pace,
  thresholds: readonly Threshold[],
  { capacity }: Observation,
  steepestPerMs: number,
): number {
  if (met.length === thresholds.length) return MET_MS;
  let distance = Infinity;
  for (const threshold of thresholds) {
    if (!met.includes(threshold)) distance = Math.min(distance, available - amountOf(threshold.least, capacity));
  }
  const unforeseen = Math.min(distance / steepestPerMs + BURST_MS, FAR_MS);
  const foreseen = fallPerMs > 0 ? clamped(distance / (fallPerMs * MARGIN), CLOSE_MS) : FAR_MS;
  return Math.min(unforeseen, foreseen);
}

const clamped = (ms: number, leastMs: number): number => Math.min(Math.max(ms, leastMs), FAR_MS);

/** Moves the time of the next look to the grid, by less than one step of it and to an earlier time. */
function onGrid(now: MonotonicMs, inMs: number): number {
  const at = Math.floor((now + inMs) / GRID_MS) * GRID_MS;
  return Math.max(at - now, GRID_MS);
}
