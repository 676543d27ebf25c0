/**
 * Stats of pods from the runtime, for the sandboxes and containers that were running when last inspected or listed: per
 * pod if the runtime supports it, else per container. Upstream: pkg/kubelet/stats/cri_stats_provider.go.
 */
import type * as cri from "../../gen/cri.ts";
import type { MeasuredPod } from "../runtime/measuredPods.ts";
import { cpuStats, ioStats, memoryStats, networkStats, swapStats, usedFs } from "./criStats.ts";
import type { ContainerStats, CpuStats, FsStats, MemoryStats, PodStats, SwapStats } from "./summary.ts";

/** Returns the space of the file system mounted at a path; undefined when it was not measured. */
export type SpaceAt = (mountpoint: string) => Omit<FsStats, "time" | "usedBytes" | "inodesUsed"> | undefined;

/** Returns the mount points of the containers' writable layers, without duplicates. */
export function writtenFileSystems(containers: readonly cri.ContainerStats[]): readonly string[] {
  const paths = containers.map(({ writableLayer }) => writableLayer?.fsId?.mountpoint ?? "");
  return [...new Set(paths)].filter((path) => path !== "");
}

/** Returns stats from ListPodSandboxStats. */
export function statsOfSandboxes(
  measured: readonly cri.PodSandboxStats[],
  statuses: readonly MeasuredPod[],
  spaceAt: SpaceAt,
): readonly PodStats[] {
  const bySandbox = new Map(measured.map((stats) => [stats.attributes?.id, stats.linux]));
  return statuses.flatMap((status): readonly PodStats[] => {
    const sandbox = status.sandboxes.find(({ id, ready }) => ready && bySandbox.has(id));
    const linux = bySandbox.get(sandbox?.id);
    if (sandbox === undefined || linux === undefined) return [];
    const { cpu, memory, io, network, process } = linux;
    const containers = containersOf(status, linux.containers, spaceAt);
    const swap = sumOfSwap(containers);
    return [
      {
        ...reference(status, sandbox),
        containers,
        ...(cpu && { cpu: cpuStats(cpu) }),
        ...(memory && { memory: memoryStats(memory) }),
        ...(io && { io: ioStats(io) }),
        ...(network && { network: networkStats(network) }),
        ...(process?.processCount && { process_stats: { process_count: Number(process.processCount.value) } }),
        ...(swap && { swap }),
      },
    ];
  });
}

/**
 * Returns stats from ListContainerStats. A pod's usage is the sum of its containers; its network and processes are
 * unknown.
 */
export function statsOfContainers(
  measured: readonly cri.ContainerStats[],
  statuses: readonly MeasuredPod[],
  spaceAt: SpaceAt,
): readonly PodStats[] {
  return statuses.flatMap((status): readonly PodStats[] => {
    const sandbox = status.sandboxes.find(({ ready }) => ready);
    const containers = containersOf(status, measured, spaceAt);
    if (sandbox === undefined || containers.length === 0) return [];
    const cpu = sumOfCpu(containers);
    const memory = sumOfMemory(containers);
    const swap = sumOfSwap(containers);
    return [
      {
        ...reference(status, sandbox),
        containers,
        ...(cpu && { cpu }),
        ...(memory && { memory }),
        ...(swap && { swap }),
      },
    ];
  });
}

const reference = ({ name, namespace, podUid }: MeasuredPod, { createdAt }: MeasuredPod["sandboxes"][number]) => ({
  podRef: { name, namespace, uid: podUid },
  startTime: createdAt,
});

/** Returns the running containers, oldest first. */
function containersOf(
  { containers }: MeasuredPod,
  measured: readonly cri.ContainerStats[],
  spaceAt: SpaceAt,
): readonly ContainerStats[] {
  const byId = new Map(measured.map((stats) => [stats.attributes?.id, stats]));
  const running = containers.filter(({ state }) => state === "running").toReversed();
  return running.flatMap((container) => {
    const stats = byId.get(container.id);
    return stats === undefined ? [] : [containerStats(container, stats, spaceAt)];
  });
}

const NO_SWAP = { swapUsageBytes: { value: 0n }, swapAvailableBytes: { value: 0n } };

function containerStats(
  container: MeasuredPod["containers"][number],
  stats: cri.ContainerStats,
  spaceAt: SpaceAt,
): ContainerStats {
  const { cpu, memory, io, writableLayer } = stats;
  // A runtime that reports no swap is taken to use none, as in upstream.
  const swap = stats.swap ?? (memory && { timestamp: memory.timestamp, ...NO_SWAP });
  const space = spaceAt(writableLayer?.fsId?.mountpoint ?? "");
  return {
    name: container.name,
    startTime: container.createdAt,
    ...(cpu && { cpu: cpuStats(cpu) }),
    ...(memory && { memory: memoryStats(memory) }),
    ...(io && { io: ioStats(io) }),
    ...(writableLayer && { rootfs: { ...usedFs(writableLayer), ...space } }),
    ...(swap && { swap: swapStats(swap) }),
  };
}

type Figures<T> = Exclude<keyof T, "time" | "psi">;

/** Sums each figure that any part has, with the newest time; undefined without any part. */
function sumOf<T extends CpuStats | MemoryStats | SwapStats>(
  parts: readonly (T | undefined)[],
  names: readonly Figures<T>[],
): T | undefined {
  const found = parts.filter((part) => part !== undefined);
  const newest = found.reduce<T | undefined>((last, part) => (last && last.time > part.time ? last : part), undefined);
  if (newest === undefined) return undefined;
  const figures: [PropertyKey, number][] = [];
  for (const name of names) {
    const values = found.map((part) => part[name]).filter((value) => typeof value === "number");
    if (values.length > 0) figures.push([name, values.reduce((total, value) => total + value, 0)]);
  }
  return { time: newest.time, ...Object.fromEntries(figures) } as T;
}

const sumOfCpu = (containers: readonly ContainerStats[]): CpuStats | undefined =>
  sumOf(
    containers.map(({ cpu }) => cpu),
    ["usageNanoCores", "usageCoreNanoSeconds"],
  );

// Available bytes are not summed, because a container may have no limit.
const sumOfMemory = (containers: readonly ContainerStats[]): MemoryStats | undefined =>
  sumOf(
    containers.map(({ memory }) => memory),
    ["usageBytes", "workingSetBytes", "rssBytes", "pageFaults", "majorPageFaults"],
  );

const sumOfSwap = (containers: readonly ContainerStats[]): SwapStats | undefined =>
  sumOf(
    containers.map(({ swap }) => swap),
    ["swapAvailableBytes", "swapUsageBytes"],
  );
