/**
 * Pressure conditions of the node, and the thresholds to act on, computed from one observation to the next. Upstream:
 * the observing half of synchronize in pkg/kubelet/eviction.
 *
 *     available                   200  90  90  110 110 200 200
 *     threshold 100, reclaim 50    -   met met met met  -   -     met below 100, then until 150
 *     pressure                     -   on  on  on  on  on  off    until unmet for the transition period
 */
import type { MonotonicMs } from "../ids.ts";
import type { NodePressures } from "../node/nodeFacts.ts";
import { sameValue } from "../sameValue.ts";
import type { Observations } from "./observations.ts";
import { amountOf, resourceOf, type Signal, type Threshold } from "./thresholds.ts";

/** State kept between two observations. */
export interface PressureState {
  /** Thresholds that are met, and since when. */
  readonly metSince: ReadonlyMap<Threshold, MonotonicMs>;
  /** Thresholds that were met for their grace period; they stay met until the reclaim amount is available too. */
  readonly unresolved: readonly Threshold[];
  /** When a threshold of each kind was last met. */
  readonly lastMet: Readonly<Partial<Record<keyof NodePressures, MonotonicMs>>>;
}

/** The state before the first observation. */
export const noPressureSeen: PressureState = { metSince: new Map(), unresolved: [], lastMet: {} };

const PRESSURE_OF: Readonly<Record<Signal, keyof NodePressures>> = {
  "memory.available": "memory",
  "allocatableMemory.available": "memory",
  "nodefs.available": "disk",
  "nodefs.inodesFree": "disk",
  "imagefs.available": "disk",
  "imagefs.inodesFree": "disk",
  "containerfs.available": "disk",
  "containerfs.inodesFree": "disk",
  "pid.available": "pid",
};

/** Returns the state after an observation at `now`. */
export function nextPressure(
  state: PressureState,
  thresholds: readonly Threshold[],
  observations: Observations,
  now: MonotonicMs,
): PressureState {
  const met = thresholds.filter(
    (threshold) =>
      isMet(threshold, observations, false) ||
      (state.unresolved.includes(threshold) && isMet(threshold, observations, true)),
  );
  // The usual case.
  if (met.length === 0) return state.metSince.size === 0 ? state : { ...noPressureSeen, lastMet: state.lastMet };
  const metSince = new Map(met.map((threshold) => [threshold, state.metSince.get(threshold) ?? now]));
  const lastMet = { ...state.lastMet };
  for (const { signal } of met) lastMet[PRESSURE_OF[signal]] = now;
  return { metSince, lastMet, unresolved: met.filter((each) => now - (metSince.get(each) ?? now) >= each.graceMs) };
}

/**
 * Returns the state after measurements between two looks: they prolong a pressure of `under`, and start none. A look
 * that frees space may last long.
 */
export function prolonged(
  state: PressureState,
  thresholds: readonly Threshold[],
  observations: Observations,
  under: NodePressures,
): PressureState {
  const lastMet = { ...state.lastMet };
  for (const threshold of thresholds) {
    const resource = PRESSURE_OF[threshold.signal];
    const at = observations.get(threshold.signal)?.at;
    if (at === undefined || !under[resource] || at <= (lastMet[resource] ?? -Infinity)) continue;
    if (isMet(threshold, observations, false)) lastMet[resource] = at;
  }
  return sameValue(lastMet, state.lastMet) ? state : { ...state, lastMet };
}

/**
 * Returns the thresholds to act on, most urgent first: those met for their grace period whose signal was measured
 * again since the `last` observations. Memory comes before the other resources, and a hard threshold before a soft one.
 * Upstream: thresholdsUpdatedStats, byEvictionPriority.
 */
export function thresholdsToActOn(
  { unresolved }: PressureState,
  observations: Observations,
  last: Observations,
): readonly Threshold[] {
  const isFresh = ({ signal }: Threshold): boolean => {
    const seen = observations.get(signal);
    return seen !== undefined && seen.at > (last.get(signal)?.at ?? -Infinity);
  };
  return byUrgency(unresolved.filter(isFresh));
}

/** Returns the thresholds that are met, most urgent first, also those within their grace period. */
export const thresholdsMet = ({ metSince }: PressureState): readonly Threshold[] => byUrgency([...metSince.keys()]);

function byUrgency(thresholds: readonly Threshold[]): readonly Threshold[] {
  const rank = ({ signal, graceMs }: Threshold): number =>
    (resourceOf(signal) === "memory" ? 0 : 2) + (graceMs === 0 ? 0 : 1);
  return thresholds.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns whether no threshold is met and the minimum amounts to reclaim are available too, whatever their grace. */
export const isRelieved = (thresholds: readonly Threshold[], observations: Observations): boolean =>
  !thresholds.some((threshold) => isMet(threshold, observations, true));

function isMet({ signal, least, reclaim }: Threshold, observations: Observations, isReclaiming: boolean): boolean {
  const seen = observations.get(signal);
  if (seen === undefined) return false;
  const more = isReclaiming && reclaim !== undefined ? amountOf(reclaim, seen.capacity) : 0;
  return amountOf(least, seen.capacity) + more > seen.available;
}

/**
 * Returns the pressures at `now`: a pressure starts with the first observation that meets a threshold, whatever its
 * grace period.
 */
export function pressuresOf({ lastMet }: PressureState, transitionMs: number, now: MonotonicMs): NodePressures {
  const isUnder = (at: MonotonicMs | undefined): boolean => at !== undefined && now - at < transitionMs;
  return { memory: isUnder(lastMet.memory), disk: isUnder(lastMet.disk), pid: isUnder(lastMet.pid) };
}
