/**
 * A pod of this node as an API server would show it: a static pod has no object there, so the marks that the server
 * gives to objects are derived. Pods of an API server have theirs already.
 */
import type { Pod } from "../api.ts";
import { epochMs, type EpochMs } from "../ids.ts";
import { formatInstant } from "../telemetry/civilTime.ts";
import { isStaticPod } from "./criticalPod.ts";

/** Since when a pod is being removed, and how long it may take. */
export interface PodRemoval {
  readonly since: EpochMs;
  readonly graceSeconds: number;
}

/** `removal` is undefined while its source still has the pod. */
export function shownPod(pod: Pod, removal: PodRemoval | undefined): Pod {
  if (!isStaticPod(pod)) return pod;
  const { metadata, status } = pod;
  const creationTimestamp = metadata.creationTimestamp ?? status?.startTime;
  return {
    ...pod,
    metadata: {
      ...metadata,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(removal === undefined ? {} : deletionMarks(removal)),
    },
  };
}

const MS_PER_SECOND = 1_000;

/** As the server has it, the timestamp is the end of the grace period. */
const deletionMarks = ({ since, graceSeconds }: PodRemoval) => ({
  deletionTimestamp: formatInstant(epochMs(since + graceSeconds * MS_PER_SECOND)),
  deletionGracePeriodSeconds: graceSeconds,
});
