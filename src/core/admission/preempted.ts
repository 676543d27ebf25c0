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

/** A stop takes seconds of talking to the runtime, whatever the grace. */
const MINIMUM_STOP_SECONDS = 10;

/** For how long, in milliseconds, the critical pod waits for the stop of a pod with this grace: half as much again. */
export const preemptionWaitMs = (graceSeconds: number): number =>
  1000 * Math.max(MINIMUM_STOP_SECONDS, graceSeconds + Math.floor(graceSeconds / 2));

/** Said of a pod that has not stopped by then. */
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
