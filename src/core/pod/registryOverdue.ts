/** Which leaving pod somebody waits for is overdue next. */
import type { OverdueFor } from "../admission/leavingPods.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import { isCriticalPod } from "./criticalPod.ts";
import type { Registry } from "./podRegistryTypes.ts";

/** The next word of the registry input `overdue`, and when it is due. */
export interface NextOverdue {
  /** undefined: of the pods no source has claimed yet. */
  readonly uid: PodUid | undefined;
  readonly for: OverdueFor;
  readonly at: MonotonicMs;
}

/** The earliest; undefined when nobody waits for a pod that can still be overdue. */
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
