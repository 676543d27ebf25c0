/** Metrics of the hardware that pods get. Upstream: the counters of topologymanager and cpumanager. */
import { deviceManager } from "../../core/device/deviceManager.ts";
import type { DeviceState } from "../../core/device/deviceState.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { perObject } from "../../core/perObject.ts";
import { hardwareOf } from "../../core/topology/assignHardware.ts";
import type { AssignHardware } from "../../core/topology/hardware.ts";
import type { NodeTopology } from "../../core/topology/nodeHardware.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Returns the function that gives out the hardware of a node with these devices; undefined if the node has none. */
export const assignmentOf = ({ hardware, topology = NOWHERE_NEAR }: Pick<KubeletConfig, "hardware" | "topology">) =>
  perObject((devices: DeviceState): AssignHardware | undefined => {
    if (devices.size === 0) return hardware?.assign;
    const managers = [deviceManager(devices, topology.nodeIds)];
    return hardware?.assignWith(managers) ?? hardwareOf(topology.policy, managers);
  });

/** The topology of a machine that does not say where its CPUs are. */
const NOWHERE_NEAR: NodeTopology = {
  nodeIds: [],
  policy: { name: "none", scope: "container", topology: { nodes: 1, distances: undefined } },
};

/** Counts and times each decision about the hardware of a pod. */
export const countedAssignment = (
  assign: AssignHardware | undefined,
  metrics: Metrics,
  clock: Clock,
): AssignHardware | undefined =>
  assign &&
  ((pod, others, kept) => {
    const startedAt = clock.monotonicMs();
    const assigned = assign(pod, others, kept);
    // A pod that waits is decided about again and again.
    if ("refusal" in assigned && assigned.refusal.awaits !== undefined) return assigned;
    metrics.count("kubelet_topology_manager_admission_requests_total");
    metrics.observe("kubelet_topology_manager_admission_duration_ms", clock.monotonicMs() - startedAt);
    if ("refusal" in assigned) {
      metrics.count("kubelet_topology_manager_admission_errors_total");
      if (assigned.refusal.reason !== "TopologyAffinityError" && assigned.refusal.isOfDevices !== true)
        metrics.count("kubelet_cpu_manager_pinning_errors_total");
      return assigned;
    }
    const pinned = [...assigned.hardware.values()].filter(({ cpus }) => cpus !== undefined).length;
    metrics.count("kubelet_cpu_manager_pinning_requests_total", {}, pinned);
    return assigned;
  });
