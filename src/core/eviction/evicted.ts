/** Status and event of an evicted pod. Upstream: evictPod of pkg/kubelet/eviction. */
import type { Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { StatusOverride } from "../pod/status.ts";

/** Grace period in seconds of an immediate eviction. */
export const IMMEDIATE_EVICTION_GRACE_SECONDS = 1;

/** Returns the status of an evicted pod. */
export const evictedStatus = (message: string): StatusOverride => ({ phase: "Failed", reason: "Evicted", message });

/** Returns the event of an eviction. */
export const evictedEvent = (pod: Pod, message: string): KubeletEvent => ({
  type: "Warning",
  reason: "Evicted",
  message,
  object: podEventObject(pod),
});
