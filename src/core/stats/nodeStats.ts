/** Stats of the node from what its machine says of itself. Counterpart: root cgroup and file systems of pkg/kubelet/stats. */
import type { EpochMs } from "../ids.ts";
import type { InterfaceCounters } from "./procText.ts";
import type { ContainerStats, FsStats, InterfaceStats, NetworkStats, NodeStats, PressureStats } from "./summary.ts";

/** One file system, as `FileSystemUsage` of the host. */
export interface SpaceFigures {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
  readonly usedBytes: bigint;
  readonly inodes: bigint;
  readonly inodesFree: bigint;
}

/** Everything measured of a machine at one time; undefined is what could not be read. */
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
  /** Of the kubelet's directory. */
  readonly rootFs: SpaceFigures | undefined;
  /** How long tasks waited; undefined where the kernel does not say. */
  readonly pressure: HostPressure | undefined;
  readonly systemContainers: readonly ContainerStats[];
}

/** By what tasks waited for. */
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

/** The node's part of the Summary. */
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

/** Size and free space, as a part of what somebody uses there. */
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

/** Upstream takes the interface of this name for the default one, whatever the routes say. */
const DEFAULT_INTERFACE = "eth0";

/** Traffic of these interfaces, the default one at the top. */
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
