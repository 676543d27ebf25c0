/**
 * The subjects of `/metrics/cadvisor`: the node, its cgroups, and every pod, sandbox and container. Figures that the
 * runtime measured take precedence, so that all pages agree; cgroups provide the others. Upstream:
 * containerPrometheusLabelsFunc in pkg/kubelet/server.
 */
import type { EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import type { CgroupFigure, CgroupFigures, DeviceIo } from "./cgroupFigures.ts";
import { type CgroupOwner, cgroupOwners } from "./cgroupOwners.ts";
import type { DiskCounters } from "./diskText.ts";
import { labelText } from "./exposition.ts";
import type { SpaceFigures } from "./nodeStats.ts";
import type { InterfaceCounters } from "./procText.ts";
import type { ContainerStats, CpuStats, MemoryStats, PodStats, Summary } from "./summary.ts";
import { allNamed } from "../findNamed.ts";

/** A figure and the time of its measurement. */
export interface Reported {
  readonly value: number;
  readonly time: EpochMs;
}

/** Usage of one device by a subject. */
export interface DiskUse {
  readonly device: string;
  readonly usedBytes?: number | undefined;
  readonly capacityBytes?: number | undefined;
  readonly inodes?: number | undefined;
  readonly inodesFree?: number | undefined;
  readonly io?: DeviceIo | undefined;
  readonly counters?: DiskCounters | undefined;
}

/** A node, cgroup, pod, sandbox or container with figures. */
export interface Subject {
  /** Text from `labelText`. */
  readonly labels: string;
  readonly time: EpochMs;
  readonly createdAt: EpochMs | undefined;
  readonly figures: CgroupFigures;
  /** Figures from the runtime, which take precedence. */
  readonly reported: { readonly [Figure in CgroupFigure]?: Reported };
  /** Runtimes do not report packets. */
  readonly interfaces: readonly (Pick<InterfaceCounters, "name"> & Partial<InterfaceCounters>)[];
  readonly disks: readonly DiskUse[];
}

/** A reading of a cgroup; see the port `cgroupUsage`. */
interface Reading extends Pick<Subject, "time" | "createdAt" | "figures"> {
  readonly interfaces: readonly InterfaceCounters[];
  readonly path: string;
  readonly io: readonly DeviceIo[];
}

/** A block device with a mounted file system. */
export interface NodeDisk {
  readonly device: string;
  readonly counters: DiskCounters | undefined;
  readonly space: SpaceFigures | undefined;
}

/** All measurements for one page. */
export interface CadvisorMeasurement {
  readonly readings: readonly Reading[];
  readonly pods: readonly PodRuntimeStatus[];
  /** Undefined: the runtime did not respond. */
  readonly summary: Summary | undefined;
  readonly nodeInterfaces: readonly InterfaceCounters[];
  readonly nodeDisks: readonly NodeDisk[];
  /** Devices by major and minor number, for their names. */
  readonly deviceNames: ReadonlyMap<string, DiskCounters>;
  /** The device of the containers' writable layers; undefined if unknown. */
  readonly containerDevice: string | undefined;
}

const ROOT = "/";

/** Returns the subjects in the order of their cgroups; those without a cgroup come last. */
export function cadvisorSubjects(measurement: CadvisorMeasurement): readonly Subject[] {
  const { readings, pods, summary } = measurement;
  const ownerOf = cgroupOwners(pods);
  const statsByUid = new Map(summary?.pods.map((stats) => [stats.podRef.uid, stats]));
  const seen = new Set<ContainerStats | PodStats>();
  const sums = processSums(readings);
  const subjects = readings.map((reading): Subject => {
    const owner = ownerOf(reading.path);
    const podStats = owner && statsByUid.get(owner.pod.podUid);
    const stats = owner?.container ? containerStats(podStats, owner) : owner?.sandbox ? undefined : podStats;
    if (stats !== undefined) seen.add(stats);
    return {
      ...{ time: reading.time, createdAt: startOf(owner) ?? reading.createdAt },
      labels: labelText(labelsOf(reading.path, owner)),
      figures: { ...sums.get(reading.path), ...reading.figures },
      reported: stats === undefined ? {} : reportedBy(stats),
      interfaces: reading.path === ROOT ? measurement.nodeInterfaces : reading.interfaces,
      disks: reading.path === ROOT ? nodeDiskUses(measurement) : diskUses(reading, stats, measurement),
    };
  });
  return [...subjects, ...withoutCgroup(measurement, seen)];
}

/**
 * Returns the labels of a subject. `name` and `image` of a pod are empty, as are `container` and `image` of a sandbox,
 * which CRI does not report.
 */
function labelsOf(id: string, owner: CgroupOwner | undefined) {
  const { pod, sandbox, container } = owner ?? {};
  return {
    container: container?.name ?? "",
    id,
    image: container?.image ?? "",
    name: container?.id ?? sandbox?.id ?? "",
    namespace: pod?.namespace ?? "",
    pod: pod?.name ?? "",
  };
}

const startOf = (owner: CgroupOwner | undefined): EpochMs | undefined =>
  owner?.container?.startedAt ?? owner?.sandbox?.createdAt;

const containerStats = (stats: PodStats | undefined, { container }: CgroupOwner): ContainerStats | undefined =>
  container &&
  allNamed(stats?.containers ?? [], container.name).find(({ startTime }) => startTime === container.createdAt);

/** Returns the figures that the runtime measured. */
function reportedBy(stats: {
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly process_stats?: { readonly process_count: number };
}): Subject["reported"] {
  const { cpu, memory, process_stats } = stats;
  const reported: { [Figure in CgroupFigure]?: Reported } = {};
  const addSample = (figure: CgroupFigure, value: number | undefined, time: EpochMs | undefined): void => {
    if (value !== undefined && time !== undefined) reported[figure] = { value, time };
  };
  addSample("cpuNs", cpu?.usageCoreNanoSeconds, cpu?.time);
  addSample("memoryUsage", memory?.usageBytes, memory?.time);
  addSample("workingSet", memory?.workingSetBytes, memory?.time);
  addSample("rss", memory?.rssBytes, memory?.time);
  addSample("processes", process_stats?.process_count, memory?.time);
  return reported;
}

const SUMMED = ["processes", "fileDescriptors", "sockets"] as const;

/**
 * Sums the figures of processes for each cgroup from the containers below it: only containers' processes are counted
 * individually. The root is left out, since it has other processes too.
 */
function processSums(readings: readonly Reading[]): ReadonlyMap<string, CgroupFigures> {
  const sums = new Map<string, { [Figure in CgroupFigure]?: number }>();
  for (const { path, figures } of readings) {
    if (figures.processes === undefined) continue;
    for (let at = path.lastIndexOf(ROOT); at > 0; at = path.lastIndexOf(ROOT, at - 1)) {
      const above = path.slice(0, at);
      const sum = sums.get(above) ?? {};
      for (const figure of SUMMED) sum[figure] = (sum[figure] ?? 0) + (figures[figure] ?? 0);
      sums.set(above, sum);
    }
  }
  return sums;
}

const nodeDiskUses = ({ nodeDisks }: CadvisorMeasurement): readonly DiskUse[] =>
  nodeDisks.map(({ device, counters, space }) => ({
    ...{ device, counters },
    ...(space && {
      usedBytes: Number(space.usedBytes),
      capacityBytes: Number(space.capacityBytes),
      inodes: Number(space.inodes),
      inodesFree: Number(space.inodesFree),
    }),
  }));

function diskUses(
  { io }: Pick<Reading, "io">,
  stats: ContainerStats | PodStats | undefined,
  { deviceNames, containerDevice }: CadvisorMeasurement,
): readonly DiskUse[] {
  const uses: readonly DiskUse[] = io.map((each) => ({
    device: deviceNames.get(each.device)?.device ?? each.device,
    io: each,
  }));
  const rootfs = stats !== undefined && "rootfs" in stats ? stats.rootfs : undefined;
  if (rootfs === undefined || containerDevice === undefined) return uses;
  const { usedBytes, capacityBytes, inodesUsed } = rootfs;
  // The inode total of a container is what it uses, with none free, as in cadvisor.
  const own = { usedBytes, capacityBytes, inodes: inodesUsed, inodesFree: 0 };
  const written = uses.find(({ device }) => device === containerDevice);
  const others = uses.filter((use) => use !== written);
  return [{ device: containerDevice, ...written, ...own }, ...others];
}

/** Subjects without a readable cgroup: containers in virtual machines, and nodes without cgroups per pod. */
function withoutCgroup(
  measurement: CadvisorMeasurement,
  seen: ReadonlySet<ContainerStats | PodStats>,
): readonly Subject[] {
  const byUid = new Map<string, PodRuntimeStatus>(measurement.pods.map((pod) => [pod.podUid, pod]));
  return (measurement.summary?.pods ?? []).flatMap((stats) => {
    const pod = byUid.get(stats.podRef.uid);
    if (pod === undefined) return [];
    const subject = (owner: CgroupOwner, of: ContainerStats | PodStats): readonly Subject[] => {
      const time = of.cpu?.time ?? of.memory?.time;
      if (seen.has(of) || time === undefined) return [];
      const interfaces = "network" in of ? (of.network?.interfaces ?? []) : [];
      return [
        {
          ...{ time, createdAt: of.startTime, figures: {}, reported: reportedBy(of) },
          labels: labelText(labelsOf("", owner)),
          interfaces,
          disks: diskUses({ io: [] }, of, measurement),
        },
      ];
    };
    const containers = stats.containers.flatMap((of) => {
      const container = allNamed(pod.containers, of.name).find(({ createdAt }) => createdAt === of.startTime);
      return container === undefined ? [] : subject({ pod, container }, of);
    });
    return [...subject({ pod }, stats), ...containers];
  });
}
