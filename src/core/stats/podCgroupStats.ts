/**
 * Stats of pods and their containers from cgroups, because a runtime does not measure pods, and few report the swap and
 * the pressure of containers. Upstream: listPodStatsPartiallyFromCRI of cri_stats_provider.go, which uses cadvisor.
 */
import type { EpochMs } from "../ids.ts";
import type { MeasuredPod } from "../runtime/measuredPods.ts";
import type { CgroupFigures } from "./cgroupFigures.ts";
import { cgroupOwners } from "./cgroupOwners.ts";
import { type HostPressure, networkStats } from "./nodeStats.ts";
import type { InterfaceCounters } from "./procText.ts";
import type { ContainerStats, PodStats } from "./summary.ts";
import { systemContainer } from "./systemContainers.ts";

/** A reading of a cgroup. */
interface Reading {
  readonly path: string;
  readonly time: EpochMs;
  readonly createdAt: EpochMs | undefined;
  readonly figures: CgroupFigures;
  readonly interfaces: readonly InterfaceCounters[];
  readonly pressure?: HostPressure | undefined;
}

/**
 * Adds the figures of their cgroups and the network of their sandboxes to pods and containers. Those without a reading
 * stay unchanged.
 */
export function withPodCgroups(
  pods: readonly PodStats[],
  statuses: readonly MeasuredPod[],
  readings: readonly Reading[],
): readonly PodStats[] {
  const ownerOf = cgroupOwners(statuses);
  const figures = new Map<string, Partial<PodStats>>();
  const ofContainers = new Map<string, Usage>();
  for (const reading of readings) {
    const owner = ownerOf(reading.path);
    if (owner === undefined) continue;
    const { pod, sandbox, container } = owner;
    if (container !== undefined) {
      ofContainers.set(containerKey(pod.podUid, container.name), usageOf(reading));
      continue;
    }
    const found = sandbox === undefined ? wholePod(reading) : sandbox.ready ? sandboxNetwork(reading) : {};
    figures.set(pod.podUid, { ...figures.get(pod.podUid), ...found });
  }
  return pods.map((pod) => ({
    ...pod,
    containers: pod.containers.map((container) => {
      const usage = ofContainers.get(containerKey(pod.podRef.uid, container.name));
      return usage === undefined ? container : withUsage(container, usage);
    }),
    ...figures.get(pod.podRef.uid),
  }));
}

const containerKey = (podUid: string, name: string): string => `${podUid}/${name}`;

/** The figures that pods and containers share. */
type Usage = Pick<PodStats & ContainerStats, "cpu" | "memory" | "io" | "swap">;

function usageOf(reading: Reading): Usage {
  const { time, pressure, figures } = reading;
  const { cpu, memory } = systemContainer("", reading);
  const swap = memory && { time, ...swapOf(figures) };
  return {
    ...(cpu && { cpu: { ...cpu, ...(pressure && { psi: pressure.cpu }) } }),
    ...(memory && { memory: { ...memory, ...(pressure && { psi: pressure.memory }) } }),
    ...(pressure && { io: { time, psi: pressure.io } }),
    ...(swap && { swap }),
  };
}

/** A cgroup has no CPU rate: that of the runtime stays. */
const withUsage = (container: ContainerStats, usage: Usage): ContainerStats => ({
  ...container,
  ...usage,
  ...(usage.cpu && { cpu: { ...container.cpu, ...usage.cpu } }),
});

const wholePod = (reading: Reading): Partial<PodStats> => {
  const { threads } = reading.figures;
  return { ...usageOf(reading), ...(threads !== undefined && { process_stats: { process_count: threads } }) };
};

/** Without swap accounting, reports no swap used and none available, as upstream does. */
function swapOf({ swap = 0, swapLimit }: Reading["figures"]) {
  if (swapLimit === Infinity) return { swapUsageBytes: swap };
  return { swapUsageBytes: swap, swapAvailableBytes: Math.max(0, (swapLimit ?? 0) - swap) };
}

const sandboxNetwork = ({ time, interfaces }: Reading): Partial<PodStats> =>
  interfaces.length === 0 ? {} : { network: networkStats(time, interfaces) };
