/** Events, metrics and log lines of allocated and rejected resizes. */
import { resizePendingEvent, resizeStartedEvent } from "../core/allocation/resizeMessages.ts";
import type { ResizableParts } from "../core/allocation/podAllocation.ts";
import { requestedResizes } from "../core/allocation/requestedResizes.ts";
import { podUid } from "../core/ids.ts";
import type { Registry, RegistryInput, RegistryStep } from "../core/pod/podRegistry.ts";
import type { Metrics, Telemetry } from "../ports/telemetry.ts";
import type { PodOutput } from "./podOutputs.ts";

/** Returns the events of one step of the registry; counts and logs them. */
export function resizeEvents(
  { resizes, resizeTrigger = "pod_updated" }: RegistryStep,
  { log, metrics }: Telemetry,
): readonly PodOutput[] {
  return resizes.map(({ pod, refused, detail, wasDeferred }): PodOutput => {
    const { namespace, name, uid } = pod.metadata;
    const about = { pod: `${namespace}/${name}`, podUid: uid };
    if (refused === undefined) {
      log.info("Pod resize was granted", about);
      if (wasDeferred) metrics.count("kubelet_pod_deferred_accepted_resizes_total", { retry_trigger: resizeTrigger });
      return { kind: "event", event: resizeStartedEvent(pod) };
    }
    const { reason, message } = refused;
    log.warn("Pod resize was not granted", { ...about, reason, why: message });
    if (detail !== undefined) metrics.count("kubelet_pod_infeasible_resizes_total", { reason_detail: detail });
    return { kind: "event", event: resizePendingEvent(pod, reason, message) };
  });
}

/** Counts the amounts that an update changes, compared to the registry before it. */
export function countRequestedResizes(
  input: RegistryInput,
  { records }: Registry,
  parts: ResizableParts,
  metrics: Metrics,
): void {
  if (input.kind !== "update" || (input.update.op !== "UPDATE" && input.update.op !== "SET")) return;
  for (const pod of input.update.pods) {
    const known = records.get(podUid(pod.metadata.uid))?.pod;
    for (const labels of known === undefined ? [] : requestedResizes(known, pod, parts)) {
      metrics.count("kubelet_container_requested_resizes_total", { ...labels });
    }
  }
}
