/** Event and status of a pod that waits for the resources of terminating pods, or for a device plugin. Upstream has no such wait. */
import type { ApiContainerStatus, Pod, PodStatus } from "../api.ts";
import { kubeletError } from "../errors.ts";
import type { KubeletEvent } from "../events.ts";
import { type EpochMs, podUid } from "../ids.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { podEventObject } from "../pod/podEvents.ts";
import { generatePodStatus, type PodStatusInput } from "../pod/status.ts";
import { emptyRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { formatInstant } from "../time/civilTime.ts";
import { type Blocker, namesText, WAITING_FOR_RESOURCES } from "./leavingPods.ts";

/** Returns the message with the pods, or the plugin, waited for; `until` is the last of their deadlines in wall-clock time. */
export function resourceWaitMessage(pod: Pod, behind: readonly Blocker[], until: EpochMs): string {
  const [first] = behind;
  if (first?.isPlugin === true) {
    return `Waiting for the device plugin of ${first.name}; rejected at ${formatInstant(until)} at the latest`;
  }
  const outcome = isCriticalPod(pod) ? "started beside them" : "rejected";
  const names = namesText(behind.map(({ name }) => name));
  return `Waiting for pods to terminate: ${names}; ${outcome} at ${formatInstant(until)} at the latest`;
}

/** Returns the event, recorded once when the wait starts. */
export const resourceWaitEvent = (pod: Pod, message: string): KubeletEvent => ({
  type: "Normal",
  reason: WAITING_FOR_RESOURCES,
  message,
  object: podEventObject(pod),
});

/** Returns the status: Pending, with all containers waiting. */
export function resourceWaitStatus(pod: Pod, message: string, now: EpochMs, node: PodStatusInput["node"]): PodStatus {
  const { uid, name, namespace } = pod.metadata;
  const [init] = pod.spec.initContainers ?? [];
  const held = init === undefined ? pod.spec.containers : [init];
  const failure = kubeletError("ResourceExhausted", message, { reason: WAITING_FOR_RESOURCES });
  return generatePodStatus({
    pod: withoutRunning(pod),
    runtime: emptyRuntimeStatus(podUid(uid), name, namespace, 0),
    failures: new Map(held.map((container) => [container.name, failure])),
    verdicts: new Map(),
    previous: undefined,
    now,
    node,
    // No resources are allocated yet.
    reportsPodResources: false,
  });
}

/**
 * Returns the pod with containers that wait where the last report says that they run: those of a pod that ran before the
 * machine started again. Each counts as restarted when it starts, not while it waits.
 */
function withoutRunning(pod: Pod): Pod {
  if (pod.status === undefined) return pod;
  const waiting = (statuses: readonly ApiContainerStatus[] = []): readonly ApiContainerStatus[] =>
    statuses.map((status) => (status.state?.running === undefined ? status : { ...status, state: { waiting: {} } }));
  const { containerStatuses, initContainerStatuses } = pod.status;
  const own = {
    ...(containerStatuses && { containerStatuses: waiting(containerStatuses) }),
    ...(initContainerStatuses && { initContainerStatuses: waiting(initContainerStatuses) }),
  };
  return { ...pod, status: { ...pod.status, ...own } };
}
