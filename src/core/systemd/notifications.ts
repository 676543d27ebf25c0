/** Notifications to systemd as variable assignments: sd_notify(3). */

/** The start is complete. */
export const READY = "READY=1";
/**
 * The configuration is read again, READY=1 ends that. `monotonicMicros`: the present time of CLOCK_MONOTONIC, by which a
 * manager tells this message from one before its signal.
 */
export const reloading = (monotonicMicros: bigint): readonly string[] => [
  "RELOADING=1",
  `MONOTONIC_USEC=${monotonicMicros}`,
];
/** The stop has begun. */
export const STOPPING = "STOPPING=1";
/** The service is alive. */
export const WATCHDOG = "WATCHDOG=1";

/** Longest text of a status: systemd keeps it in memory, and shows it in one line. */
const MAX_STATUS_CHARS = 300;
const MICROS_PER_MS = 1_000;

/** Asks for a later end of the start: the next notification comes within `ms`. */
export const startTakes = (ms: number): string => `EXTEND_TIMEOUT_USEC=${ms * MICROS_PER_MS}`;

/**
 * Describes the service in a line of `systemctl status`. Line breaks would begin another assignment and become spaces;
 * the text is cut after MAX_STATUS_CHARS characters.
 */
export const statusText = (text: string): string =>
  `STATUS=${text
    .replace(/[\u0000-\u001f\u007f\s]+/g, " ")
    .trim()
    .slice(0, MAX_STATUS_CHARS)}`;

/** Facts of a running node that its status shows. */
export interface ServiceFacts {
  readonly pods: number;
  /** Why the runtime or its network is not ready; empty when both are. */
  readonly runtimeProblems: readonly string[];
  /** Names of the failed health checks. */
  readonly failedChecks: readonly string[];
}

/** Describes a running node: its pods, its runtime and the health checks that fail. It changes only when one of them does. */
export function nodeStatus({ pods, runtimeProblems, failedChecks }: ServiceFacts): string {
  const [problem = "container runtime ready"] = runtimeProblems;
  const sick = failedChecks.length === 0 ? [] : [`unhealthy: ${failedChecks.join(", ")}`];
  return statusText([`${pods} ${pods === 1 ? "pod" : "pods"}`, ...sick, problem].join("; "));
}
