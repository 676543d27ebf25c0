/**
 * Assigns log lines to verbosities (`-v`), following upstream's conventions. Each level includes all lower ones. The
 * documentation is generated from this table.
 */

/** The levels that add lines. */
export const VERBOSITY = {
  /** Flags of the command line. */
  flags: 1,
  /** Pods that a source adds, changes or removes. */
  podUpdates: 2,
  /** Changes of pod statuses. */
  podStatuses: 3,
  /** Decisions and expected failures. */
  debug: 4,
  /** The whole configuration, and every request to the runtime. */
  runtimeCalls: 5,
  /** Every request to the API server. */
  apiRequests: 6,
  /** Every event of the runtime. */
  runtimeEvents: 7,
  /** Every probe. */
  probes: 8,
  /** Every inspection of a pod in the runtime. */
  inspections: 9,
} as const;

/** A level of the table. */
export type Verbosity = (typeof VERBOSITY)[keyof typeof VERBOSITY];
