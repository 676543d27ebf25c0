/** Status of a pod that admission rejected. Upstream: kubelet.rejectPod. */
import type { Pod, PodStatus } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { formatInstant } from "../time/civilTime.ts";
import { podQosClass } from "./qos.ts";

/** Returns the part of the status that names the rejection. */
export const rejectedOverride = (reason: string, message: string) =>
  ({ phase: "Failed", message: `Pod was rejected: ${message}`, reason }) as const;

/** Returns a Failed status with the reason of the rejection. */
export const rejectedStatus = (pod: Pod, reason: string, message: string, now: EpochMs): PodStatus => ({
  ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  ...rejectedOverride(reason, message),
  startTime: formatInstant(now),
  qosClass: podQosClass(pod),
});
