/** Finds the next deadline of a terminating pod that other pods wait for. */
import type { OverdueFor } from "../admission/leavingPods.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import { isCriticalPod } from "./criticalPod.ts";
import type { Registry } from "./podRegistryTypes.ts";

/** The next `overdue` input of the registry and its time. */
export interface NextOverdue {
  /** Undefined: the pods that no source has claimed yet. */
  readonly uid: PodUid | undefined;
  readonly for: OverdueFor;
  readonly at: MonotonicMs;
}

/** Returns the earliest deadline; undefined when no pod waits for one that can still become overdue. */
export function nextOverdue({ records, unclaimed }: Registry): NextOverdue | undefined {
  let next: NextOverdue | undefined;
  for (const { pod, behind, state } of records.values()) {
    if (behind.length === 0 || pod === undefined || (state !== "waiting" && state !== "syncing")) continue;
    const waiter: OverdueFor = isCriticalPod(pod) ? "criticalPods" : "everyone";
    for (const { uid } of behind) {
      const leaver = records.get(uid);
      const leaving = leaver === undefined ? unclaimed : leaver.state === "terminating" ? leaver.leaving : undefined;
      if (leaving === undefined || leaving.overdueFor === "everyone" || leaving.overdueFor === waiter) continue;
      const at = leaving.due[waiter];
      if (next === undefined || at < next.at) next = { uid: leaver === undefined ? undefined : uid, for: waiter, at };
    }
  }
  return next;
}
