/**
 * Resource usage of the node and its pods, in the fields of the statsapi v1alpha1 Summary. Instants are milliseconds
 * here and RFC 3339 in the document. Unknown figures are absent. Counters beyond 2^53 lose their last digits, which are
 * nanoseconds. Upstream: k8s.io/kubelet/pkg/apis/stats/v1alpha1.
 */
import { type EpochMs, epochMs } from "../ids.ts";
import { formatInstant } from "../time/civilTime.ts";

export interface CpuStats {
  readonly time: EpochMs;
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds?: number;
  readonly psi?: PressureStats;
}

export interface MemoryStats {
  readonly time: EpochMs;
  readonly availableBytes?: number;
  readonly usageBytes?: number;
  readonly workingSetBytes?: number;
  readonly rssBytes?: number;
  readonly pageFaults?: number;
  readonly majorPageFaults?: number;
  readonly psi?: PressureStats;
}

export interface SwapStats {
  readonly time: EpochMs;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

export interface IoStats {
  readonly time: EpochMs;
  readonly psi?: PressureStats;
}

/**
 * Pressure stall information, for all tasks (full) or at least one (some): averages in percent, total in microseconds.
 */
export interface PressureStats {
  readonly full: PressureFigures;
  readonly some: PressureFigures;
}

export interface PressureFigures {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface InterfaceStats {
  readonly name: string;
  readonly rxBytes?: number;
  readonly rxErrors?: number;
  readonly txBytes?: number;
  readonly txErrors?: number;
}

/** The default interface at the top level, all interfaces in `interfaces`. */
export interface NetworkStats extends Partial<InterfaceStats> {
  readonly time: EpochMs;
  readonly interfaces?: readonly InterfaceStats[];
}

export interface FsStats {
  readonly time: EpochMs;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

/** Stats of one volume of a pod. */
export interface VolumeStats extends FsStats {
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
  /** Present for CSI drivers that report it. */
  readonly volumeHealthStats?: { readonly abnormal: boolean };
}

export interface ContainerStats {
  readonly name: string;
  /** Time of creation. */
  readonly startTime: EpochMs;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly rootfs?: FsStats;
  readonly logs?: FsStats;
  readonly swap?: SwapStats;
}

export interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  /** Creation time of its sandbox. */
  readonly startTime: EpochMs;
  readonly containers: readonly ContainerStats[];
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly network?: NetworkStats;
  readonly volume?: readonly VolumeStats[];
  readonly "ephemeral-storage"?: FsStats;
  readonly process_stats?: { readonly process_count: number };
  readonly swap?: SwapStats;
}

export interface NodeStats {
  readonly nodeName: string;
  /** The node's own cgroups: `pods`, `kubelet`, `runtime`, `misc`. */
  readonly systemContainers?: readonly ContainerStats[];
  /** Time of boot. */
  readonly startTime: EpochMs;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly network?: NetworkStats;
  readonly fs?: FsStats;
  readonly runtime?: { readonly imageFs?: FsStats; readonly containerFs?: FsStats };
  readonly rlimit?: { readonly time: EpochMs; readonly maxpid: number; readonly curproc: number };
  readonly swap?: SwapStats;
}

export interface Summary {
  readonly node: NodeStats;
  readonly pods: readonly PodStats[];
}

/** Returns the part for `only_cpu_and_memory=true`, which includes swap. Upstream: GetCPUAndMemoryStats. */
export function onlyCpuAndMemory({ node, pods }: Summary): Summary {
  const { network: _network, fs: _fs, runtime: _runtime, rlimit: _rlimit, io: _io, ...ofNode } = node;
  return { node: ofNode, pods: pods.map(podCpuAndMemory) };
}

function podCpuAndMemory(pod: PodStats): PodStats {
  const { network: _network, process_stats: _count, io: _io, volume: _volume, ...others } = pod;
  const { "ephemeral-storage": _storage, ...ofPod } = others;
  return {
    ...ofPod,
    containers: pod.containers.map(({ rootfs: _rootfs, logs: _logs, io: _ioOf, ...ofContainer }) => ofContainer),
  };
}

const INSTANTS: ReadonlySet<string> = new Set(["time", "startTime"]);

/** Returns the JSON document, indented like upstream's. */
export const summaryDocument = (summary: Summary): string =>
  JSON.stringify(
    summary,
    (key, value: unknown) => (INSTANTS.has(key) && typeof value === "number" ? formatInstant(epochMs(value)) : value),
    1,
  );
