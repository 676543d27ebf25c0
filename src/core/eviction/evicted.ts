/** Grace period, status and event of an evicted pod. Upstream: evictPod of pkg/kubelet/eviction. */
import type { Pod } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import type { PodUid } from "../ids.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { StatusOverride } from "../pod/status.ts";
import type { Threshold } from "./thresholds.ts";

/** An order to end a pod. */
export interface Eviction {
  readonly uid: PodUid;
  /** Message of the status. */
  readonly message: string;
  /** Longest grace period; the pod may have a shorter one. */
  readonly graceSeconds: number;
  /** Whether the pod gets the condition DisruptionTarget. As upstream, false for a pod beyond a limit of its own. */
  readonly isDisrupted: boolean;
}

/** Grace period in seconds of an immediate eviction. */
export const IMMEDIATE_EVICTION_GRACE_SECONDS = 1;

/** Returns the grace period of a pod that is evicted at this threshold. A soft one leaves the pod up to `maxSeconds`. */
export const evictionGraceSeconds = (
  { graceMs }: Pick<Threshold, "graceMs">,
  { spec }: Pod,
  maxSeconds: number,
): number =>
  graceMs === 0
    ? IMMEDIATE_EVICTION_GRACE_SECONDS
    : Math.min(maxSeconds, spec.terminationGracePeriodSeconds ?? maxSeconds);

/** Returns the status of an evicted pod. */
export const evictedStatus = ({ message, isDisrupted }: Eviction): StatusOverride => ({
  phase: "Failed",
  reason: "Evicted",
  message,
  ...(isDisrupted && { disruption: message }),
});

/** Returns the event of an eviction. */
export const evictedEvent = (
  pod: Pod,
  message: string,
  annotations: Readonly<Record<string, string>> = {},
): KubeletEvent => ({
  type: "Warning",
  reason: "Evicted",
  message,
  object: podEventObject(pod),
  annotations,
});
