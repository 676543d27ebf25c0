/**
 * The periods of a node shutdown: how long the pods of each range of priorities may take to stop. Upstream:
 * migrateConfig, groupByPriority and periodRequested of pkg/kubelet/nodeshutdown.
 */
import type { KubeletConfiguration } from "../config/kubeletConfiguration.ts";

/** Time that pods with at least this priority, and less than that of the next period, get to stop. */
export interface ShutdownPeriod {
  readonly priority: number;
  /** Seconds, at least 0. */
  readonly seconds: number;
}

type Fields = Pick<
  KubeletConfiguration,
  "shutdownGracePeriod" | "shutdownGracePeriodCriticalPods" | "shutdownGracePeriodByPodPriority"
>;

const MS_PER_SECOND = 1_000;
const DEFAULT_PRIORITY = 0;
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Returns the periods by ascending priority; empty when pods are not ended before a shutdown. `hasPriorities` is the gate
 * GracefulNodeShutdownBasedOnPodPriority: without it, `shutdownGracePeriodByPodPriority` does not count.
 */
export function shutdownPeriods(config: Fields, hasPriorities: boolean): readonly ShutdownPeriod[] {
  const byPriority = hasPriorities ? config.shutdownGracePeriodByPodPriority : [];
  if (byPriority.length === 0) return periodsOfTwo(config);
  return byPriority
    .map(({ priority, shutdownGracePeriodSeconds }) => ({ priority, seconds: Math.max(0, shutdownGracePeriodSeconds) }))
    .toSorted((a, b) => a.priority - b.priority);
}

function periodsOfTwo({ shutdownGracePeriod: whole, shutdownGracePeriodCriticalPods: critical }: Fields) {
  if (whole <= 0 || critical > whole) return [];
  return [
    { priority: DEFAULT_PRIORITY, seconds: Math.floor((whole - critical) / MS_PER_SECOND) },
    { priority: SYSTEM_CRITICAL_PRIORITY, seconds: Math.floor(critical / MS_PER_SECOND) },
  ];
}

/** Returns the seconds that a shutdown may take in all. */
export const shutdownSeconds = (periods: readonly ShutdownPeriod[]): number =>
  periods.reduce((sum, { seconds }) => sum + seconds, 0);

/**
 * Returns the index of the period for this priority: the last one whose priority is not higher, else the first one.
 * Among periods of equal priority the first one counts, as upstream.
 */
export function periodOf(periods: readonly ShutdownPeriod[], priority: number): number {
  const last = periods.findLast((period) => period.priority <= priority);
  return last === undefined ? 0 : periods.findIndex((period) => period.priority === last.priority);
}
