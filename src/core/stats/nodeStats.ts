/** Stats of the node from figures of its machine. Upstream: root cgroup and file systems of pkg/kubelet/stats. */
import type { EpochMs } from "../ids.ts";
import type { InterfaceCounters } from "./procText.ts";
import type { ContainerStats, FsStats, InterfaceStats, NetworkStats, NodeStats, PressureStats } from "./summary.ts";

/** Space of one file system, as `FileSystemUsage` of the host. */
export interface SpaceFigures {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
  readonly usedBytes: bigint;
  readonly inodes: bigint;
  readonly inodesFree: bigint;
}

/** All figures of a machine at one time; undefined if they could not be read. */
export interface HostFigures {
  readonly time: EpochMs;
  readonly cpuNs: bigint | undefined;
  readonly memory:
    | {
        readonly availableBytes: bigint;
        readonly usageBytes: bigint;
        readonly workingSetBytes: bigint;
        readonly rssBytes: bigint;
        readonly pageFaults: bigint;
        readonly majorPageFaults: bigint;
        readonly swapTotalBytes: bigint;
        readonly swapFreeBytes: bigint;
      }
    | undefined;
  readonly pids: { readonly max: bigint; readonly running: bigint } | undefined;
  readonly interfaces: readonly InterfaceCounters[];
  /** The file system of the kubelet's root directory. */
  readonly rootFs: SpaceFigures | undefined;
  /** Pressure stall information; undefined where the kernel has none. */
  readonly pressure: HostPressure | undefined;
  readonly systemContainers: readonly ContainerStats[];
}

/** Pressure by resource. */
export interface HostPressure {
  readonly cpu: PressureStats;
  readonly memory: PressureStats;
  readonly io: PressureStats;
}

/** File systems of the runtime. */
export interface RuntimeFileSystems {
  readonly images: FsStats | undefined;
  readonly containers: FsStats | undefined;
}

/** Returns the node's part of the Summary. */
export function nodeStats(
  nodeName: string,
  startTime: EpochMs,
  { time, cpuNs, memory, pids, interfaces, rootFs, pressure, systemContainers }: HostFigures,
  { images, containers }: RuntimeFileSystems,
): NodeStats {
  return {
    nodeName,
    startTime,
    ...(systemContainers.length > 0 && { systemContainers }),
    ...(cpuNs !== undefined && {
      cpu: { time, usageCoreNanoSeconds: Number(cpuNs), ...(pressure && { psi: pressure.cpu }) },
    }),
    ...(memory && {
      memory: {
        time,
        availableBytes: Number(memory.availableBytes),
        usageBytes: Number(memory.usageBytes),
        workingSetBytes: Number(memory.workingSetBytes),
        rssBytes: Number(memory.rssBytes),
        pageFaults: Number(memory.pageFaults),
        majorPageFaults: Number(memory.majorPageFaults),
        ...(pressure && { psi: pressure.memory }),
      },
      swap: {
        time,
        swapAvailableBytes: Number(memory.swapFreeBytes),
        swapUsageBytes: Number(memory.swapTotalBytes - memory.swapFreeBytes),
      },
    }),
    ...(pressure && { io: { time, psi: pressure.io } }),
    ...(interfaces.length > 0 && { network: networkStats(time, interfaces) }),
    ...(rootFs && { fs: wholeFs(time, rootFs) }),
    ...((images ?? containers) && {
      runtime: { ...(images && { imageFs: images }), ...(containers && { containerFs: containers }) },
    }),
    ...(pids && { rlimit: { time, maxpid: Number(pids.max), curproc: Number(pids.running) } }),
  };
}

/** Returns size and free space, to combine with usage on the file system. */
export const spaceOf = (space: SpaceFigures) => ({
  availableBytes: Number(space.availableBytes),
  capacityBytes: Number(space.capacityBytes),
  inodesFree: Number(space.inodesFree),
  inodes: Number(space.inodes),
});

const wholeFs = (time: EpochMs, space: SpaceFigures): FsStats => ({
  time,
  ...spaceOf(space),
  usedBytes: Number(space.usedBytes),
  inodesUsed: Number(space.inodes - space.inodesFree),
});

/** Upstream takes the interface of this name as the default, regardless of routes. */
const DEFAULT_INTERFACE = "eth0";

/** Returns the traffic of these interfaces, the default one at the top. */
export function networkStats(time: EpochMs, counters: readonly InterfaceCounters[]): NetworkStats {
  const interfaces = counters.map(
    ({ name, rxBytes, rxErrors, txBytes, txErrors }): InterfaceStats => ({
      name,
      rxBytes,
      rxErrors,
      txBytes,
      txErrors,
    }),
  );
  return { time, ...interfaces.find(({ name }) => name === DEFAULT_INTERFACE), interfaces };
}
