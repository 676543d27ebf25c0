/** Read access for the servers: snapshots of the cells. */
import type { Pod } from "../core/api.ts";
import { nodeHardwareView } from "../core/hardwareView/nodeHardwareView.ts";
import type { MonotonicMs } from "../core/ids.ts";
import {
  allocatableResources,
  getPodResources,
  listPodResources,
  type ResourceHolders,
} from "../core/podResources/podResources.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { Queue } from "../operators/createQueue.ts";
import type { Clock } from "../ports/clock.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { HealthCheck, KubeletQueries } from "../ports/kubeletQueries.ts";
import { arePodsRestored, areSourcesSeen } from "../state/milestones.ts";
import type { NodeView } from "../state/nodeState.ts";
import { pressureQuery, type PressureTools } from "./eviction/pressureQuery.ts";
import type { ImagePulls } from "./images/imagePull.ts";
import { objectQueries } from "./objectQueries.ts";
import { timelineQueries } from "./timelineQueries.ts";
import { volumeQueries } from "./volumes/volumeQueries.ts";

/**
 * The pod loop counts as stalled when no relist has succeeded for this long beyond its period, or when the registry has
 * taken none of its waiting inputs for as long.
 */
const STALLED_AFTER_MS = 180_000;

interface QueryTools extends PressureTools {
  readonly images: Pick<ImagePulls, "line">;
  readonly registryInputs: Pick<Queue<unknown>, "waitingSince">;
}

/** All queries over the node's state. */
export function createQueries(
  ports: Pick<KubeletPorts, "clock" | "machine" | "telemetry">,
  config: KubeletConfig,
  state: NodeView,
  { images, registryInputs, ...tools }: QueryTools,
): KubeletQueries {
  const basic = basicQueries(ports.clock, config, state, registryInputs);
  return {
    ...basic,
    ...objectQueries(basic, ports, config, state),
    ...timelineQueries(ports.clock, state, images),
    ...volumeQueries(ports.clock, config, state),
    ...hardwareQueries(ports, config, state),
    pressure: pressureQuery(ports, config, state, tools),
  };
}

type HardwareQuery = "hardware" | "areHoldersKnown" | "podResources" | "podResourcesOf" | "allocatableResources";

function hardwareQueries(
  { clock, machine: { cpuLayout: layout, numaMemory, memoryBytes } }: Pick<KubeletPorts, "clock" | "machine">,
  config: KubeletConfig,
  state: NodeView,
): Pick<KubeletQueries, HardwareQuery> {
  const { hardware, topology, draGates, listsEndedPodResources } = config;
  const { registry, claims, devices, deviceAllocations, listing } = state;
  const memory = numaMemory ?? [{ id: 0, bytes: Number(memoryBytes), hugepages: new Map() }];
  const holders = (): ResourceHolders => ({
    records: registry.value.records,
    claims: claims.value,
    devices: devices.value,
    deviceAllocations: deviceAllocations.value,
    hasExtendedClaims: draGates.extendedResources,
  });
  return {
    hardware: () =>
      nodeHardwareView({
        now: clock.wallTime(),
        machine: { layout, memory },
        hardware,
        topology,
        registry: registry.value,
        devices: devices.value,
        claims: claims.value,
        hasExtendedClaims: draGates.extendedResources,
        nameOf: (uid) => listing.value?.pods.get(uid),
      }),
    areHoldersKnown: () => registry.value.isSettled || (listing.value !== undefined && arePodsRestored(config, state)),
    podResources: () => listPodResources(holders(), listsEndedPodResources),
    podResourcesOf: (namespace, name) => getPodResources(holders(), namespace, name),
    allocatableResources: () => allocatableResources(hardware, devices.value),
  };
}

function basicQueries(
  clock: Clock,
  config: Pick<KubeletConfig, "resyncPeriodMs" | "sources">,
  state: NodeView,
  registryInputs: QueryTools["registryInputs"],
): Pick<KubeletQueries, "pods" | "arePodsKnown" | "health" | "manifestProblems" | "runtimePods" | "runtimeProblems"> {
  const startedAt = clock.monotonicMs();
  const pods = (): readonly Pod[] => {
    const found: Pod[] = [];
    for (const [uid, { pod, state: is }] of state.registry.value.records) {
      const status = state.podStatuses.get(uid);
      // The status is removed a moment before the record: the pod no longer exists by then.
      if (pod === undefined || (is === "terminated" && status === undefined)) continue;
      found.push(status === undefined ? pod : { ...pod, status });
    }
    return found;
  };
  const syncLoop = (): string | undefined => {
    const now = clock.monotonicMs();
    const limitMs = config.resyncPeriodMs + STALLED_AFTER_MS;
    const since: MonotonicMs = state.relistedAt.value ?? startedAt;
    if (now - since > limitMs) return `the runtime was last listed ${Math.round((now - since) / 1000)} s ago`;
    const waitedMs = now - (registryInputs.waitingSince ?? now);
    return waitedMs > limitMs ? `changes of pods have waited for ${Math.round(waitedMs / 1000)} s` : undefined;
  };
  const health = (): readonly HealthCheck[] => [
    { name: "ping", problem: undefined },
    { name: "log", problem: undefined },
    { name: "syncloop", problem: syncLoop() },
    { name: "device-plugin", problem: state.devicePluginProblem.value },
  ];
  const manifestProblems = (): readonly ManifestProblem[] => [...state.problems.value.values()].flat();
  const arePodsKnown = (): boolean => areSourcesSeen(config, state);
  const runtimeProblems = (): readonly string[] => {
    const { runtimeProblems: own, networkProblems } = state.runtimeState.value;
    return [...own, ...networkProblems];
  };
  const runtimePods = () => state.runtimeStatuses.values();
  return { pods, arePodsKnown, health, manifestProblems, runtimePods, runtimeProblems };
}
