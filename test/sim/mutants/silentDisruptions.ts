import type { PodStatus } from "../../../src/core/api.ts";
import { type Mutant, shortOfResources, withStatuses } from "./mutant.ts";

const undisrupted = (status: PodStatus): PodStatus => ({
  ...status,
  conditions: (status.conditions ?? []).filter(({ type }) => type !== "DisruptionTarget"),
});

/** Reports no disruption of a pod. */
export const silentDisruptions: Mutant = {
  bug: "an evicted pod lacks the condition DisruptionTarget",
  caughtBy: "evictedAreTold",
  pods: 16,
  faults: shortOfResources(),
  createKubelet: withStatuses(undisrupted),
};
