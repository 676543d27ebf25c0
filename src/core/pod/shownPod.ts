/**
 * Renders a pod as an API server would return it. A static pod has no object there, so the server-side metadata is
 * derived; pods from the API server have it already.
 */
import type { Pod } from "../api.ts";
import { epochMs, type EpochMs } from "../ids.ts";
import { formatInstant } from "../time/civilTime.ts";
import { isStaticPod } from "./criticalPod.ts";

/** When the removal of a pod started, and its grace period. */
export interface PodRemoval {
  readonly since: EpochMs;
  readonly graceSeconds: number;
}

/** Returns the pod with derived metadata. `removal` is undefined while the source still has the pod. */
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

/** The deletion timestamp is the end of the grace period, as on the API server. */
const deletionMarks = ({ since, graceSeconds }: PodRemoval) => ({
  deletionTimestamp: formatInstant(epochMs(since + graceSeconds * MS_PER_SECOND)),
  deletionGracePeriodSeconds: graceSeconds,
});
