/** Events of resizes. Upstream: pkg/kubelet/events/resize.go. */
import type { Pod } from "../api.ts";
import { goJson } from "../container/goJson.ts";
import type { KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { Requirements } from "./podAllocation.ts";

const sorted = (amounts: Requirements["limits"]): Requirements["limits"] =>
  amounts && Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Returns the members in upstream's order. */
const inOrder = ({ limits, requests }: Requirements): Requirements => ({
  ...(limits && { limits: sorted(limits) as Record<string, string> }),
  ...(requests && { requests: sorted(requests) as Record<string, string> }),
});

function sizes(pod: Pod, error: string): string {
  const reported = (containers: Pod["spec"]["containers"] | undefined) =>
    containers?.map(({ name, resources }) => ({ name, resources: inOrder(resources ?? {}) }));
  const initContainers = reported(pod.spec.initContainers);
  return goJson({
    ...(initContainers?.length ? { initContainers } : {}),
    containers: reported(pod.spec.containers),
    generation: pod.metadata.generation ?? 0,
    ...(error === "" ? {} : { error }),
  });
}

function resizeEvent(pod: Pod, type: KubeletEvent["type"], reason: string, prefix: string, error = ""): KubeletEvent {
  return { type, reason, message: `${prefix}: ${sizes(pod, error)}`, object: podEventObject(pod) };
}

/** Returns the event for a newly allocated size that is being actuated. */
export const resizeStartedEvent = (pod: Pod): KubeletEvent =>
  resizeEvent(pod, "Normal", "ResizeStarted", "Pod resize started");

/** Returns the event for a completed actuation. */
export const resizeCompletedEvent = (pod: Pod): KubeletEvent =>
  resizeEvent(pod, "Normal", "ResizeCompleted", "Pod resize completed");

/** Returns the event for a failed actuation. */
export const resizeErrorEvent = (pod: Pod, error: string): KubeletEvent =>
  resizeEvent(pod, "Warning", "ResizeError", "Pod resize error", error);

/** Returns the event for a deferred or infeasible resize. */
export const resizePendingEvent = (pod: Pod, reason: "Deferred" | "Infeasible", message: string): KubeletEvent =>
  resizeEvent(pod, "Warning", `Resize${reason}`, `Pod resize ${reason}`, message);
