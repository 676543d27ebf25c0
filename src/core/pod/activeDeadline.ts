/** How long a pod may be active. Upstream: active_deadline.go. */
import type { Pod, PodStatus } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import type { EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { parseInstant } from "../telemetry/civilTime.ts";
import { podEventObject } from "./podEvents.ts";
import type { StatusOverride } from "./status.ts";

/** What its status tells of a pod that was active for too long. */
export const DEADLINE_EXCEEDED: StatusOverride = {
  phase: "Failed",
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

/** The event that goes with it. */
export const deadlineEvent = (pod: Pod): KubeletEvent => ({
  type: "Normal",
  reason: DEADLINE_EXCEEDED.reason,
  message: DEADLINE_EXCEEDED.message,
  object: podEventObject(pod),
});

export interface ActiveDeadlineInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus | undefined;
  /** Status told last. */
  readonly previous: PodStatus | undefined;
  readonly now: EpochMs;
  /** For how long this kubelet has known the pod's start time: no setting of the wall clock takes any of it back. */
  readonly knownForMs: number;
}

/**
 * Milliseconds the pod may still be active, 0 or less once it is over; undefined without a deadline. Counts from the
 * start time in its status; after a restart of the kubelet from its oldest sandbox. Differs from upstream: a wall clock
 * that is set back gives a pod no more time than it would have had from when this kubelet first knew its start time.
 */
export function activeDeadlineLeftMs(input: ActiveDeadlineInput): number | undefined {
  const { pod, runtime, previous, now, knownForMs } = input;
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  const told = parseInstant(previous?.startTime ?? pod.status?.startTime);
  const startedAt = told ?? runtime?.sandboxes.at(-1)?.createdAt ?? now;
  return activeDeadlineSeconds * 1000 - Math.max(now - startedAt, knownForMs);
}
