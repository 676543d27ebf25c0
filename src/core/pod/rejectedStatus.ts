/** Status of a pod that admission rejected. Upstream: kubelet.rejectPod. */
import type { Pod, PodStatus } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { formatInstant } from "../time/civilTime.ts";
import { podQosClass } from "./qos.ts";

/** Returns a Failed status with the reason of the rejection. */
export const rejectedStatus = (pod: Pod, reason: string, message: string, now: EpochMs): PodStatus => ({
  ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  phase: "Failed",
  message: `Pod was rejected: ${message}`,
  reason,
  startTime: formatInstant(now),
  qosClass: podQosClass(pod),
});
