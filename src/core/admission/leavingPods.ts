/**
 * Pods that are being stopped, and for how long others wait for the room they take. A rejection is final, so a pod that
 * fits once they are gone waits for them, but never without an end.
 */
import { type MonotonicMs, monotonicMs, type PodUid } from "../ids.ts";

/** Until when a leaving pod is waited for, at the latest. */
export interface LeavingDue {
  /** By critical pods, which then start beside it. */
  readonly criticalPods: MonotonicMs;
  /** By all others, which are then rejected. */
  readonly everyone: MonotonicMs;
}

/** Who no longer waits for a pod that has not stopped in time. */
export type OverdueFor = keyof LeavingDue;

/** How the stop of a pod stands. */
export interface Leaving {
  readonly due: LeavingDue;
  /** undefined: it is in time. */
  readonly overdueFor: OverdueFor | undefined;
}

/** A leaving pod that another one waits for. */
export interface AwaitedPod {
  readonly uid: PodUid;
  /** `namespace/name`. */
  readonly name: string;
  /** Until when the waiting pod waits for it. */
  readonly until: MonotonicMs;
}

/** What is said of a pod that waits for others: reason of an event, and of the containers that wait with it. */
export const WAITING_FOR_ROOM = "WaitingForRoom";

/** A stop takes seconds of talking to the runtime, whatever the grace. */
const MINIMUM_CRITICAL_SECONDS = 10;
/** A rejection cannot be taken back: a slow runtime gets this long for a stop, beside the grace. */
const MINIMUM_STOP_SECONDS = 60;

/**
 * When the stop of a pod with this grace, asked for now, is overdue. Critical pods wait as long as upstream's do for the
 * pods they preempt: half as much again as the grace.
 */
export function leavingDue(graceSeconds: number, now: MonotonicMs): LeavingDue {
  const half = Math.floor(graceSeconds / 2);
  const after = (seconds: number): MonotonicMs => monotonicMs(now + 1000 * seconds);
  return {
    criticalPods: after(Math.max(MINIMUM_CRITICAL_SECONDS, graceSeconds + half)),
    everyone: after(graceSeconds + Math.max(MINIMUM_STOP_SECONDS, half)),
  };
}

/** A repeated stop never gives more time than was left. */
export const earlierDue = (before: LeavingDue | undefined, due: LeavingDue): LeavingDue => ({
  criticalPods: monotonicMs(Math.min(before?.criticalPods ?? Infinity, due.criticalPods)),
  everyone: monotonicMs(Math.min(before?.everyone ?? Infinity, due.everyone)),
});

/** Pods named in one message. */
const NAMED = 3;

/** `demo/a, demo/b, demo/c and 2 more`. */
export function namesText(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}
