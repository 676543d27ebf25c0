/**
 * Stats of whole pods from cgroups, for runtimes that measure only containers. Upstream: listPodStatsPartiallyFromCRI
 * of cri_stats_provider.go, which uses cadvisor.
 */
import type { EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import type { CgroupFigures } from "./cgroupFigures.ts";
import { cgroupOwners } from "./cgroupOwners.ts";
import { type HostPressure, networkStats } from "./nodeStats.ts";
import type { InterfaceCounters } from "./procText.ts";
import type { PodStats } from "./summary.ts";
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
 * Adds the figures of their cgroups and the network of their sandboxes to pods. Pods without a reading stay unchanged.
 */
export function withPodCgroups(
  pods: readonly PodStats[],
  statuses: readonly PodRuntimeStatus[],
  readings: readonly Reading[],
): readonly PodStats[] {
  const ownerOf = cgroupOwners(statuses);
  const figures = new Map<string, Partial<PodStats>>();
  for (const reading of readings) {
    const owner = ownerOf(reading.path);
    if (owner === undefined || owner.container !== undefined) continue;
    const found = owner.sandbox === undefined ? wholePod(reading) : owner.sandbox.ready ? sandboxNetwork(reading) : {};
    figures.set(owner.pod.podUid, { ...figures.get(owner.pod.podUid), ...found });
  }
  return pods.map((pod) => ({ ...pod, ...figures.get(pod.podRef.uid) }));
}

function wholePod(reading: Reading): Partial<PodStats> {
  const { time, pressure, figures } = reading;
  const { cpu, memory } = systemContainer("", reading);
  const swap = memory && { time, ...swapOf(figures) };
  return {
    ...(cpu && { cpu: { ...cpu, ...(pressure && { psi: pressure.cpu }) } }),
    ...(memory && { memory: { ...memory, ...(pressure && { psi: pressure.memory }) } }),
    ...(pressure && { io: { time, psi: pressure.io } }),
    ...(swap && { swap }),
    ...(figures.threads !== undefined && { process_stats: { process_count: figures.threads } }),
  };
}

/** Without swap accounting, reports no swap used and none available, as upstream does. A limit of 0 means no limit. */
function swapOf({ swap = 0, swapLimit }: Reading["figures"]) {
  if (swapLimit === 0) return { swapUsageBytes: swap };
  return { swapUsageBytes: swap, swapAvailableBytes: swapLimit === undefined ? 0 : swapLimit - swap };
}

const sandboxNetwork = ({ time, interfaces }: Reading): Partial<PodStats> =>
  interfaces.length === 0 ? {} : { network: networkStats(time, interfaces) };
