/**
 * Which lines of the log belong to which verbosity (`-v`), in the spirit of upstream's conventions. Each level has the
 * lines of all below it. Docs and code read the same table.
 */

/** The levels that add lines. */
export const VERBOSITY = {
  /** Flags the kubelet was started with. */
  flags: 1,
  /** Pods that a source adds, changes or removes. */
  podUpdates: 2,
  /** Statuses of pods as they change. */
  podStatuses: 3,
  /** Decisions, and failures that are expected. */
  debug: 4,
  /** The whole configuration, and each request to the runtime. */
  runtimeCalls: 5,
  /** Each request to the API server. */
  apiRequests: 6,
  /** Each event of the runtime. */
  runtimeEvents: 7,
  /** Each probe. */
  probes: 8,
  /** Each look at a pod in the runtime. */
  inspections: 9,
} as const;

/** A verbosity that a line may need. */
export type Verbosity = (typeof VERBOSITY)[keyof typeof VERBOSITY];
