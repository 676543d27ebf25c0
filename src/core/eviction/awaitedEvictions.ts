/**
 * Evicted pods that must stop and be cleaned up before another pod is evicted. Bound: upstream's, one and a half times
 * the grace period but at least 10 s for the stop, then 30 s for the rest. Upstream: killPodNow and waitForPodsCleanup,
 * which look once a second, and at no threshold meanwhile. Differs from upstream: the wait goes on for up to 10 s while no
 * more is available than before the eviction. The kernel may free memory late, and upstream evicts more pods meanwhile.
 */
import { type MonotonicMs, monotonicMs, type PodUid } from "../ids.ts";
import type { PodRecord, Registry } from "../pod/podRegistryTypes.ts";
import type { Eviction } from "./evicted.ts";
import type { Observations } from "./observations.ts";
import type { Signal } from "./thresholds.ts";

const MIN_STOP_MS = 10_000;
const CLEAN_UP_MS = 30_000;
const FREE_MS = 10_000;

/** The amount of a signal before an eviction. */
export interface StarvedSignal {
  readonly signal: Signal;
  readonly available: number;
}

/** Pods evicted at one look. */
export interface AwaitedEviction {
  readonly uids: readonly PodUid[];
  /** Whether a hard threshold may evict another pod meanwhile: these pods may take their time. */
  readonly isSoft: boolean;
  /** When the pods should have stopped; undefined once that time has passed. */
  readonly stopBy: MonotonicMs | undefined;
  /** When the wait ends in any case. */
  readonly until: MonotonicMs;
  /** Undefined for pods beyond a limit of their own. */
  readonly starved: StarvedSignal | undefined;
  /** The pods are cleaned up; what they used is not available yet. */
  readonly isFreeing: boolean;
}

/** Returns the wait for pods that are evicted at `now`. */
export function awaitedEviction(
  evictions: readonly Eviction[],
  isSoft: boolean,
  now: MonotonicMs,
  starved?: StarvedSignal,
): AwaitedEviction {
  const stopMs = Math.max(MIN_STOP_MS, ...evictions.map(({ graceSeconds }) => graceSeconds * 1_500));
  const stopBy = monotonicMs(now + stopMs);
  const uids = evictions.map(({ uid }) => uid);
  return { uids, isSoft, stopBy, until: monotonicMs(stopBy + CLEAN_UP_MS), starved, isFreeing: false };
}

/** The remaining waits, and the pods that are late. */
export interface SettledEvictions {
  readonly awaited: readonly AwaitedEviction[];
  /** Pods that have not stopped in time; each is named once. */
  readonly overdue: readonly PodUid[];
  /** Pods whose wait has ended although they are not cleaned up. */
  readonly givenUp: readonly PodUid[];
}

/** Ends the waits that are over at `now`. */
export function settleEvictions(
  before: readonly AwaitedEviction[],
  registry: Registry,
  observations: Observations,
  now: MonotonicMs,
): SettledEvictions {
  const left = (uids: readonly PodUid[], isDone: typeof hasStopped): readonly PodUid[] =>
    uids.filter((uid) => !isDone(registry.records.get(uid)));
  const open = before
    .filter((each) => left(each.uids, isCleanedUp).length > 0 || !isFreed(each, observations))
    .map((each) => (left(each.uids, isCleanedUp).length > 0 ? each : freeing(each, now)));
  return {
    awaited: open
      .filter(({ until }) => until > now)
      .map((each) => (isPast(each.stopBy, now) ? { ...each, stopBy: undefined } : each)),
    overdue: open.flatMap(({ uids, stopBy }) => (isPast(stopBy, now) ? left(uids, hasStopped) : [])),
    givenUp: open.flatMap(({ uids, until }) => (until > now ? [] : left(uids, isCleanedUp))),
  };
}

/** Returns whether more is available than before the eviction, or is not known. */
const isFreed = ({ starved }: AwaitedEviction, observations: Observations): boolean =>
  starved === undefined || (observations.get(starved.signal)?.available ?? Infinity) > starved.available;

const freeing = (eviction: AwaitedEviction, now: MonotonicMs): AwaitedEviction =>
  eviction.isFreeing
    ? eviction
    : { ...eviction, isFreeing: true, stopBy: undefined, until: monotonicMs(now + FREE_MS) };

/** Returns whether all pods of some wait have just been cleaned up, so that the next look is due. */
export const isAnyCleanedUp = (awaited: readonly AwaitedEviction[], { records }: Registry): boolean =>
  awaited.some(({ uids, isFreeing }) => !isFreeing && uids.every((uid) => isCleanedUp(records.get(uid))));

/** Returns when the next of these waits changes by time alone; Infinity without one. */
export const nextDeadline = (awaited: readonly AwaitedEviction[]): number =>
  Math.min(...awaited.map(({ stopBy, until }) => stopBy ?? until));

const isPast = (at: MonotonicMs | undefined, now: MonotonicMs): boolean => at !== undefined && at <= now;
const hasStopped = (record: PodRecord | undefined): boolean =>
  record === undefined || (record.state !== "syncing" && record.state !== "terminating");
const isCleanedUp = (record: PodRecord | undefined): boolean =>
  record === undefined || (record.state === "terminated" && record.reclaimed);
