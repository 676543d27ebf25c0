/** What is said of a pod that is stopped to make room for a critical one. Upstream: pkg/kubelet/preemption, killPodNow. */
import type { Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { StatusOverride } from "../pod/status.ts";

/** What its status tells. */
export const PREEMPTED: StatusOverride = {
  phase: "Failed",
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
};

/** Said of a pod that has not stopped in time: nobody waits for its room any more, and critical pods start beside it. */
export const overdueEvent = (pod: Pod): KubeletEvent => ({
  type: "Warning",
  reason: "ExceededGracePeriod",
  message: "Container runtime did not kill the pod within specified grace period.",
  object: podEventObject(pod),
});

/** The event that goes with it. */
export const preemptedEvent = (pod: Pod): KubeletEvent => ({
  type: "Warning",
  reason: PREEMPTED.reason,
  message: PREEMPTED.message,
  object: podEventObject(pod),
});
