/**
 * Pods that are terminating, and how long other pods wait for their resources. A rejection is final, so a pod that fits
 * once they are gone waits for them, up to a deadline.
 */
import { type MonotonicMs, monotonicMs, type PodUid } from "../ids.ts";

/** Deadlines of waiting for a terminating pod. */
export interface LeavingDue {
  /** Deadline for critical pods, which then start alongside it. */
  readonly criticalPods: MonotonicMs;
  /** Deadline for other pods, which are then rejected. */
  readonly everyone: MonotonicMs;
}

/** Pods that no longer wait for a pod that has not terminated in time. */
export type OverdueFor = keyof LeavingDue;

/** State of a pod's termination. */
export interface Leaving {
  readonly due: LeavingDue;
  /** undefined: the deadlines have not passed. */
  readonly overdueFor: OverdueFor | undefined;
}

/** A terminating pod, or a device plugin that is away: another pod waits for it. */
export interface Blocker {
  readonly uid: PodUid;
  /** `namespace/name`, or the resource of the plugin. */
  readonly name: string;
  readonly isPlugin?: true;
  /** The waiting pod's deadline. */
  readonly until: MonotonicMs;
}

/** Reason of the event and of the container states of a pod that waits for resources. */
export const WAITING_FOR_RESOURCES = "WaitingForResources";

/** Minimum wait of critical pods: calls to the runtime take seconds, whatever the grace period. */
const MINIMUM_CRITICAL_SECONDS = 10;
/** Minimum wait of other pods after the grace period: a slow runtime needs it, and a rejection is final. */
const MINIMUM_STOP_SECONDS = 60;

/**
 * Returns the deadlines for a termination with this grace period that starts now. Critical pods wait as long as
 * upstream waits for preempted pods: one and a half times the grace period.
 */
export function leavingDue(graceSeconds: number, now: MonotonicMs): LeavingDue {
  const half = Math.floor(graceSeconds / 2);
  const after = (seconds: number): MonotonicMs => monotonicMs(now + 1000 * seconds);
  return {
    criticalPods: after(Math.max(MINIMUM_CRITICAL_SECONDS, graceSeconds + half)),
    everyone: after(graceSeconds + Math.max(MINIMUM_STOP_SECONDS, half)),
  };
}

/** Keeps the earlier deadlines: terminating a pod again never extends them. */
export const earlierDue = (before: LeavingDue | undefined, due: LeavingDue): LeavingDue => ({
  criticalPods: monotonicMs(Math.min(before?.criticalPods ?? Infinity, due.criticalPods)),
  everyone: monotonicMs(Math.min(before?.everyone ?? Infinity, due.everyone)),
});

/** Maximum number of pods named in a message. */
const NAMED = 3;

/** Formats names: `demo/a, demo/b, demo/c and 2 more`. */
export function namesText(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}
