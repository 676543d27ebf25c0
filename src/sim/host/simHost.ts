/**
 * A machine in virtual time: disks, memory, processes, kernel log, boots. Owns their state. The containers of a
 * simulated runtime are processes of the machine, and the OOM killer ends those that exceed their memory. A seed
 * determines the machine's ids.
 */
import { throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { MachineAddresses } from "../../core/node/nodeFacts.ts";
import type { Machine, HostUsage } from "../../ports/host.ts";
import type { VolumeFiles } from "../../ports/volumeFiles.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Prng } from "../prng.ts";
import { atOnce } from "../runtime/simCall.ts";
import { createSimFiles, type SimFiles, type SimFilesOptions } from "./simFiles.ts";
import { createSimMounts, type SimMounts, type SimMountsOptions } from "./simMounts.ts";
import { isOfOther } from "./simMountTable.ts";
import { createSimVolumeFiles, type SimVolumeFilesOptions } from "./simVolumeFiles.ts";
import { simMachine } from "./simMachine.ts";
import { nextOomKill, type OomKill, oomMessages } from "./oomKiller.ts";
import { createSimDisk, type SimDisk, type SimFileSystem, usualFileSystems } from "./simDisk.ts";
import { createSlowReclaim } from "./slowReclaim.ts";
import { createSimKernelLog, type SimKernelLog } from "./simKernelLog.ts";
import { createSimProcesses, DEFAULT_MAX_PIDS, type SimHostProcess, type SimProcesses } from "./simProcesses.ts";

export interface SimHostOptions {
  readonly clock: Clock;
  readonly prng: Prng;
  /** Default: a root of the machine's disk size, and /run in memory. */
  readonly fileSystems?: readonly SimFileSystem[];
  /** Largest process id. */
  readonly maxPids?: number;
  /** Properties of the machine, except its ids, which the host draws. */
  readonly machine?: Partial<Machine> | undefined;
  /** Returns how long the memory of an ended process stays in use; default 0. */
  readonly reclaimMs?: ((process: SimHostProcess) => number) | undefined;
  /** Faults of the files; called before the check for disk space. */
  readonly fileFault?: SimFilesOptions["fault"];
  /** Decides the outcome of mount and unmount requests. */
  readonly mountFate?: SimMountsOptions["fate"];
  readonly mountGoesOn?: SimMountsOptions["goesOn"];
  /** Faults of writes to volumes. */
  readonly volumeFault?: SimVolumeFilesOptions["fault"];
}

export interface SimHost {
  /** Facts of the machine since its last boot. */
  readonly machine: Machine;
  readonly usage: HostUsage;
  readonly files: SimFiles;
  readonly volumeFiles: VolumeFiles;
  readonly mounts: SimMounts;
  readonly disk: SimDisk;
  readonly processes: SimProcesses;
  readonly kernelLog: SimKernelLog;
  /** Changes the addresses of its interfaces. */
  setAddresses(addresses: MachineAddresses): void;
  /**
   * Reboots at one instant: processes and file systems in memory are lost; boot id, uptime and kernel log are new.
   */
  reboot(): void;
}

/** Delay from an excessive allocation to the reaction of the kernel. */
const OOM_AFTER_MS = 5;

/** Creates a machine that boots now. */
export function createSimHost({ clock, prng, maxPids = DEFAULT_MAX_PIDS, ...options }: SimHostOptions): SimHost {
  const machineId = prng.uuid().replaceAll("-", "");
  const facts = simMachine({ ...options.machine, machineId, systemUuid: prng.uuid() });
  const memoryBytes = Number(facts.memoryBytes);
  let bootId = prng.uuid();
  const { ips, interfaceIps, nameIps } = facts;
  let addresses: MachineAddresses = { ips, interfaceIps, nameIps };
  let bootedAtMs: number = clock.monotonicMs();

  const kernelLog = createSimKernelLog(clock);
  const disk = createSimDisk(options.fileSystems ?? usualFileSystems(Number(facts.rootFsBytes)), () => files);
  const files: SimFiles = createSimFiles({
    clock,
    fault: options.fileFault,
    isFullFor: disk.isFullFor,
    count: disk.count,
  });
  const mounts = createSimMounts({
    ...{ clock, tree: files.tree, fate: options.mountFate, goesOn: options.mountGoesOn },
    hasLabels: facts.selinuxEnabled,
  });
  const volumeFiles = createSimVolumeFiles({
    clock,
    tree: files.tree,
    fault: options.volumeFault,
    isFull: (dir) => !isOfOther(files.tree.resolve(dir)) && disk.isFullFor("writeFile", dir),
  });
  const reclaim = createSlowReclaim(clock, options.reclaimMs ?? (() => 0));
  const processes = createSimProcesses(maxPids, () => watchMemory(), reclaim.ended);
  const watchMemory = createMemoryWatch(
    clock,
    () => nextOomKill(processes.all(), memoryBytes),
    (kill) => {
      for (const line of oomMessages(kill)) kernelLog.write(line);
      processes.kill(kill.victim.pid);
    },
  );
  return {
    get machine() {
      return { ...facts, ...addresses, bootId };
    },
    usage: {
      ...usageOf({ clock, memoryBytes, maxPids, disk, processes, reclaim, bootedAtMs: () => bootedAtMs }),
      addresses: () => atOnce(() => addresses),
    },
    files,
    volumeFiles,
    mounts,
    disk,
    processes,
    kernelLog,
    setAddresses: (changed) => (addresses = changed),
    reboot() {
      processes.boot();
      reclaim.boot();
      mounts.clear();
      for (const { mountPoint, isTmpfs } of disk.fileSystems) if (isTmpfs === true) emptyTree(files, mountPoint);
      kernelLog.boot();
      bootId = prng.uuid();
      bootedAtMs = clock.monotonicMs();
    },
  };
}

interface UsedHost extends Pick<SimHost, "disk" | "processes"> {
  readonly clock: Clock;
  readonly memoryBytes: number;
  readonly maxPids: number;
  readonly reclaim: { readonly bytes: number };
  bootedAtMs(): number;
}

const usageOf = ({
  clock,
  memoryBytes,
  maxPids,
  disk,
  processes,
  reclaim,
  bootedAtMs,
}: UsedHost): Omit<HostUsage, "addresses"> => ({
  fileSystem: (path) => atOnce(() => disk.usage(path)),
  remoteFileSystem: (path) => atOnce(() => disk.usage(path)),
  device: (path) => atOnce(() => disk.device(path)),
  blockDevice: (path) => throwError(() => kubeletError("NotFound", `${path} is no block device`)),
  memory: () =>
    atOnce(() => {
      const used = Math.min(memoryBytes, processes.memoryBytes + reclaim.bytes);
      return {
        capacityBytes: BigInt(memoryBytes),
        availableBytes: BigInt(memoryBytes - used),
        workingSetBytes: BigInt(used),
        usageBytes: BigInt(used),
        rssBytes: BigInt(used),
        pageFaults: 0n,
        majorPageFaults: 0n,
        swapTotalBytes: 0n,
        swapFreeBytes: 0n,
      };
    }),
  pids: () => atOnce(() => ({ max: BigInt(maxPids), running: BigInt(processes.tasks) })),
  // Programs report their current CPU usage and no total: the machine appears idle.
  cpuNs: () => atOnce(() => 0n),
  pressure: () => throwError(() => kubeletError("NotFound", "the simulated kernel does not tell of pressure")),
  interfaces: () => atOnce(() => []),
  uptimeMs: () => atOnce(() => clock.monotonicMs() - bootedAtMs()),
});

/** Removes all entries below a mount point; the mount point stays. */
function emptyTree(files: SimFiles, mountPoint: string): void {
  for (const path of files.paths()) if (path.startsWith(`${mountPoint}/`)) files.drop(path);
}

/** Checks the memory once for all changes of one instant, and kills processes until enough is free. */
function createMemoryWatch(clock: Clock, next: () => OomKill | undefined, execute: (kill: OomKill) => void) {
  let isWatching = false;
  return () => {
    if (isWatching || next() === undefined) return;
    isWatching = true;
    clock.scheduler.schedule(() => {
      isWatching = false;
      for (let kill = next(); kill !== undefined; kill = next()) execute(kill);
    }, OOM_AFTER_MS);
  };
}
