/**
 * Computes the time left of `spec.activeDeadlineSeconds`, and defines the status of a pod that exceeded it.
 * pipelines/podWorker/activeDeadlineTimer.ts watches the time, and podRegistry.ts terminates the pod. Upstream:
 * pkg/kubelet/active_deadline.go.
 */
import type { Pod, PodStatus } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import type { EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { parseInstant } from "../time/civilTime.ts";
import { podEventObject } from "./podEvents.ts";
import type { StatusOverride } from "./status.ts";

/** Status of a pod that exceeded its active deadline. */
export const DEADLINE_EXCEEDED: StatusOverride = {
  phase: "Failed",
  outlastsContainers: true,
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

/** The event that accompanies `DEADLINE_EXCEEDED`. */
export const deadlineEvent = (pod: Pod): KubeletEvent => ({
  type: "Normal",
  reason: DEADLINE_EXCEEDED.reason,
  message: DEADLINE_EXCEEDED.message,
  object: podEventObject(pod),
});

export interface ActiveDeadlineInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus | undefined;
  /** The status last generated. */
  readonly previous: PodStatus | undefined;
  readonly now: EpochMs;
  /** Monotonic time since this kubelet learned the pod's start time. Setting the wall clock back does not reduce it. */
  readonly knownForMs: number;
}

/**
 * Returns the milliseconds until the active deadline, 0 or less once it has passed; undefined without a deadline.
 * Counts from the start time in the pod's status, or, after a restart of the kubelet, from its oldest sandbox. Differs
 * from upstream: setting the wall clock back does not extend the deadline beyond what was left when this kubelet
 * learned the start time.
 */
export function activeDeadlineLeftMs(input: ActiveDeadlineInput): number | undefined {
  const { pod, runtime, previous, now, knownForMs } = input;
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  const reported = parseInstant(previous?.startTime ?? pod.status?.startTime);
  const startedAt = reported ?? runtime?.sandboxes.at(-1)?.createdAt ?? now;
  return activeDeadlineSeconds * 1000 - Math.max(now - startedAt, knownForMs);
}
