/** Metrics of the hardware that pods get. Upstream: the counters of topologymanager and cpumanager. */
import type { AssignHardware } from "../../core/topology/hardware.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Counts and times each decision about the hardware of a pod. */
export const countedAssignment =
  (assign: AssignHardware, metrics: Metrics, clock: Clock): AssignHardware =>
  (pod, others, kept) => {
    const startedAt = clock.monotonicMs();
    const assigned = assign(pod, others, kept);
    metrics.count("kubelet_topology_manager_admission_requests_total");
    metrics.observe("kubelet_topology_manager_admission_duration_ms", clock.monotonicMs() - startedAt);
    if ("refusal" in assigned) {
      metrics.count("kubelet_topology_manager_admission_errors_total");
      if (assigned.refusal.reason !== "TopologyAffinityError")
        metrics.count("kubelet_cpu_manager_pinning_errors_total");
      return assigned;
    }
    const pinned = [...assigned.hardware.values()].filter(({ cpus }) => cpus !== undefined).length;
    metrics.count("kubelet_cpu_manager_pinning_requests_total", {}, pinned);
    return assigned;
  };
