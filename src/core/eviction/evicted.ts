/** What is said of a pod that is evicted. Upstream: evictPod of pkg/kubelet/eviction. */
import type { Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { StatusOverride } from "../pod/status.ts";

/** Grace, in seconds, of a pod that has to go at once. */
export const IMMEDIATE_EVICTION_GRACE_SECONDS = 1;

/** What its status tells. */
export const evictedStatus = (message: string): StatusOverride => ({ phase: "Failed", reason: "Evicted", message });

/** The event that goes with it. */
export const evictedEvent = (pod: Pod, message: string): KubeletEvent => ({
  type: "Warning",
  reason: "Evicted",
  message,
  object: podEventObject(pod),
});
