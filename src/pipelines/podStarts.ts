/**
 * Startup latency of pods. Owns the mark of a node's first pod with a network. Upstream:
 * util/pod_startup_latency_tracker.
 */
import type { Pod, PodStatus } from "../core/api.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { StartMemory } from "./podMemories.ts";

export interface PodStarts {
  /** Observes a pod whose status turns Running for the first time; one adopted as running never counts. */
  observe(
    start: Pick<StartMemory, "startedAt" | "pullMs">,
    pod: Pod,
    before: PodStatus | undefined,
    now: PodStatus,
  ): void;
}

/** Creates the observer of one node. */
export function createPodStarts({
  clock,
  telemetry: { metrics },
}: Pick<KubeletPorts, "clock" | "telemetry">): PodStarts {
  let isFirstNetworkPodSeen = false;
  return {
    observe({ startedAt, pullMs }, { spec }, before, now) {
      if (before === undefined || before.phase === "Running" || now.phase !== "Running") return;
      const totalMs = clock.monotonicMs() - startedAt;
      const ownSeconds = Math.max(0, totalMs - pullMs) / 1000;
      metrics.observe("kubelet_pod_start_duration_seconds", totalMs / 1000);
      metrics.observe("kubelet_pod_start_total_duration_seconds", totalMs / 1000);
      metrics.observe("kubelet_pod_start_sli_duration_seconds", ownSeconds);
      // The metric shows a CNI plugin that starts slowly.
      if (isFirstNetworkPodSeen || spec.hostNetwork === true) return;
      isFirstNetworkPodSeen = true;
      metrics.gauge("kubelet_first_network_pod_start_sli_duration_seconds", ownSeconds);
    },
  };
}
