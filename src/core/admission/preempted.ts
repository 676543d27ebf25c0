/** Status and events of a pod that is preempted for a critical one. Upstream: pkg/kubelet/preemption, killPodNow. */
import type { Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { PodRecord } from "../pod/podRegistryTypes.ts";
import type { StatusOverride } from "../pod/status.ts";

/** Status of a preempted pod. */
export const PREEMPTED: StatusOverride = {
  phase: "Failed",
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
  disruption: "Pod was preempted by Kubelet to accommodate a critical pod.",
};

/**
 * Returns the event for a pod that has not terminated in time: other pods no longer wait for its resources, and
 * critical pods start alongside it. An orphan, which only the runtime knows, has the event too.
 */
export const overdueEvent = ({ pod, identity }: Pick<PodRecord, "pod" | "identity">): KubeletEvent => ({
  type: "Warning",
  reason: "ExceededGracePeriod",
  message: "Container runtime did not kill the pod within specified grace period.",
  object: pod === undefined ? { kind: "Pod", ...identity, fieldPath: "" } : podEventObject(pod),
});

/** Returns the event of a preemption. */
export const preemptedEvent = (pod: Pod): KubeletEvent => ({
  type: "Warning",
  reason: PREEMPTED.reason,
  message: PREEMPTED.message,
  object: podEventObject(pod),
});
