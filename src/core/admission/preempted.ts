/** What is said of a pod that is stopped to make room for a critical one. Upstream: pkg/kubelet/preemption. */
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

/** The event that goes with it. */
export const preemptedEvent = (pod: Pod): KubeletEvent => ({
  type: "Warning",
  reason: PREEMPTED.reason,
  message: PREEMPTED.message,
  object: podEventObject(pod),
});
