/** Metrics of the hardware that pods get. Upstream: the counters of topologymanager, cpumanager and memorymanager. */
import { cpuSetText } from "../../core/cpu/cpuSet.ts";
import { deviceManager } from "../../core/device/deviceManager.ts";
import type { DeviceState } from "../../core/device/deviceState.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { perObject } from "../../core/perObject.ts";
import { hardwareOf } from "../../core/topology/assignHardware.ts";
import type { AssignHardware, ContainerHardware, HardwareKind, PodHardware } from "../../core/topology/hardware.ts";
import { type CountedPolicies, hardwareCounts, startingCounts } from "../../core/topology/hardwareCounts.ts";
import type { NodeTopology } from "../../core/topology/nodeHardware.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry } from "../../ports/telemetry.ts";

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

type HardwareConfig = Pick<KubeletConfig, "hardware" | "topology">;

const policiesOf = ({ hardware, topology = NOWHERE_NEAR }: HardwareConfig): CountedPolicies => ({
  topology: topology.policy,
  cpus: hardware?.cpus,
  memory: hardware?.memory,
});

/** Sets the counters of the policies in force to 0. */
export function startHardwareCounts(config: HardwareConfig, metrics: Telemetry["metrics"]): void {
  for (const { metric, labels } of startingCounts(policiesOf(config))) metrics.count(metric, labels, 0);
}

const PINNING = {
  cpus: {
    requests: "kubelet_cpu_manager_pinning_requests_total",
    errors: "kubelet_cpu_manager_pinning_errors_total",
  },
  memory: {
    requests: "kubelet_memory_manager_pinning_requests_total",
    errors: "kubelet_memory_manager_pinning_errors_total",
  },
} as const satisfies Partial<Readonly<Record<HardwareKind, unknown>>>;

/** Counts and times each decision about the hardware of a pod, and logs what a running pod cannot keep. */
export const countedAssignment = (
  assign: AssignHardware | undefined,
  { log, metrics }: Telemetry,
  clock: Clock,
  config: HardwareConfig,
): AssignHardware | undefined =>
  assign &&
  ((pod, others, kept, answers) => {
    const startedAt = clock.monotonicMs();
    const assigned = assign(pod, others, kept, answers);
    // A pod that waits, or whose plugins choose devices, is decided about again.
    if ("refusal" in assigned ? assigned.refusal.awaits !== undefined : assigned.asks !== undefined) return assigned;
    metrics.count("kubelet_topology_manager_admission_requests_total");
    metrics.observe("kubelet_topology_manager_admission_duration_ms", clock.monotonicMs() - startedAt);
    for (const { metric, labels, by } of hardwareCounts(pod, assigned, kept?.hardware, policiesOf(config)))
      metrics.count(metric, labels, by);
    if ("refusal" in assigned) {
      metrics.count("kubelet_topology_manager_admission_errors_total");
      const { by } = assigned.refusal;
      if (by === "cpus" || by === "memory") {
        metrics.count(PINNING[by].requests);
        metrics.count(PINNING[by].errors);
      }
      return assigned;
    }
    for (const [container, before, now] of changes(kept?.hardware, assigned.hardware)) {
      const { name, namespace, uid } = pod.metadata;
      const fields = { pod: `${namespace}/${name}`, podUid: uid, container, before, now };
      log.warn("A container gets other hardware than before the restart", fields);
    }
    for (const kind of ["cpus", "memory"] as const) {
      metrics.count(PINNING[kind].requests, {}, pinned(assigned.hardware, kind));
    }
    return assigned;
  });

/** Returns how many containers have hardware of a kind. */
const pinned = (hardware: PodHardware, kind: HardwareKind): number =>
  [...hardware.values()].filter((of) => of[kind] !== undefined).length;

/** Returns the containers whose hardware an earlier process gave out and that get other hardware, with both as text. */
function changes(
  kept: PodHardware | undefined,
  hardware: PodHardware,
): readonly (readonly [container: string, before: string, now: string])[] {
  return [...(kept ?? [])].flatMap(([name, was]) => {
    const [before, now] = [hardwareText(was), hardwareText(hardware.get(name) ?? {})];
    return before === now ? [] : [[name, before, now] as const];
  });
}

const hardwareText = ({ cpus, memory = [] }: ContainerHardware): string =>
  [
    ...(cpus === undefined ? [] : [`CPUs ${cpuSetText(cpus)}`]),
    ...memory.map(({ resource, nodes }) => `${resource} on NUMA nodes ${nodes.join(",")}`),
  ].join(", ");
