/**
 * A machine in virtual time: disks, memory, processes, the kernel's log, boots. Owns what runs beside the containers;
 * the containers are the runtime's, which `follow` ties to it. A seed gives its ids.
 */
import { Subject, type Observable, Subscription } from "rxjs";
import type { Machine, HostUsage } from "../../ports/host.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Files } from "../../ports/files.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { Prng } from "../prng.ts";
import { atOnce } from "../simCall.ts";
import { createSimFiles, type SimFiles } from "../simFiles.ts";
import type { SimPrograms } from "../simProgram.ts";
import { simMachine } from "../simMachine.ts";
import type { SimRuntime } from "../simRuntime.ts";
import { createContainerProcesses } from "./containerProcesses.ts";
import { nextOomKill, type OomKill, oomMessages } from "./oomKiller.ts";
import { createSimDisk, DEFAULT_FILE_SYSTEMS, type SimDisk, type SimFileSystem } from "./simDisk.ts";
import { createSimKernelLog, type SimKernelLog } from "./simKernelLog.ts";
import { createSimProcesses, type SimProcesses } from "./simProcesses.ts";

export interface SimHostOptions {
  readonly clock: Clock;
  readonly prng: Prng;
  readonly fileSystems?: readonly SimFileSystem[];
  readonly memoryBytes?: number;
  /** The largest process id. */
  readonly maxPids?: number;
  /** Facts that nothing here decides: name, addresses, CPUs. */
  readonly machine?: Partial<Machine>;
  /** Of every operation on files. */
  readonly fileLatencyMs?: number;
  /** Asked before the disks are: faults of the files. */
  fileFault?(operation: keyof Files, path: string): ErrorCode | undefined;
}

export interface SimHost {
  /** Facts as they are since the last boot. */
  readonly machine: Machine;
  readonly usage: HostUsage;
  readonly files: SimFiles;
  readonly disk: SimDisk;
  readonly processes: SimProcesses;
  readonly kernelLog: SimKernelLog;
  /** Emits when the machine came up again; never completes. */
  readonly reboots$: Observable<void>;
  /** For the runtime's `programs`: so that the machine knows what they use. */
  programs(inner: SimPrograms): SimPrograms;
  /** Makes the containers of a runtime processes of this machine; its OOM killer and its reboots end them. */
  follow(runtime: SimRuntime): Subscription;
  /** The process of a running container. */
  pidOf(containerId: string): number | undefined;
  /**
   * Power off and on, at one instant: processes and memory file systems are gone, boot id, uptime and kernel log new.
   * Containers exit with 255, sandboxes are not ready, as a runtime with its state on disk finds them afterwards; a
   * runtime that forgets them is a new one, made when `reboots$` emits.
   */
  reboot(): void;
}

const GIB = 2 ** 30;
const DEFAULT_MEMORY_BYTES = 32 * GIB;
const DEFAULT_MAX_PIDS = 32_768;
const NO_PROCESS_LEFT = 255;
const KILLED = 137;
/** From the allocation that was too much to the kernel's answer. */
const OOM_AFTER_MS = 5;

/** Makes a machine that boots now. */
export function createSimHost(options: SimHostOptions): SimHost {
  const { clock, prng, memoryBytes = DEFAULT_MEMORY_BYTES, maxPids = DEFAULT_MAX_PIDS } = options;
  const ids = prng.fork("host");
  const machineId = ids.uuid().replaceAll("-", "");
  const systemUuid = ids.uuid();
  const reboots = new Subject<void>();
  const runtimes = new Set<SimRuntime>();
  let bootId = ids.uuid();
  let bootedAtMs: number = clock.monotonicMs();

  const kernelLog = createSimKernelLog(clock);
  const disk = createSimDisk(options.fileSystems ?? DEFAULT_FILE_SYSTEMS, () => files);
  const files: SimFiles = createSimFiles({
    clock,
    latencyMs: options.fileLatencyMs ?? 0,
    fault: (operation, path) => options.fileFault?.(operation, path) ?? disk.fault(operation, path),
  });
  const processes = createSimProcesses(maxPids, () => watchMemory());
  const containers = createContainerProcesses(processes);

  const endProcess = (pid: number) => {
    const container = containers.containerOf(pid);
    processes.end(pid);
    if (container === undefined) return;
    containers.forget(container);
    for (const runtime of runtimes) runtime.endContainer(container, { afterMs: 0, code: KILLED, reason: "OOMKilled" });
  };
  const watchMemory = createMemoryWatch(
    clock,
    () => nextOomKill(processes.all(), memoryBytes),
    (kill) => {
      for (const line of oomMessages(kill)) kernelLog.write(line);
      endProcess(kill.victim.pid);
    },
  );

  const reboot = () => {
    for (const runtime of runtimes) stopAll(runtime);
    processes.boot();
    containers.boot();
    for (const { mountPoint, isTmpfs } of disk.fileSystems) if (isTmpfs === true) emptyTree(files, mountPoint);
    kernelLog.boot();
    bootId = ids.uuid();
    bootedAtMs = clock.monotonicMs();
    reboots.next();
  };
  return {
    get machine() {
      const root = disk.fileSystems.find(({ mountPoint }) => mountPoint === "/");
      return simMachine({
        ...options.machine,
        memoryBytes: BigInt(memoryBytes),
        rootFsBytes: root === undefined ? undefined : BigInt(root.capacityBytes),
        bootId,
        machineId,
        systemUuid,
      });
    },
    usage: {
      fileSystem: (path) => atOnce(() => disk.usage(path)),
      memory: () =>
        atOnce(() => {
          const used = Math.min(memoryBytes, processes.memoryBytes);
          return {
            capacityBytes: BigInt(memoryBytes),
            availableBytes: BigInt(memoryBytes - used),
            workingSetBytes: BigInt(used),
          };
        }),
      pids: () => atOnce(() => ({ max: BigInt(maxPids), running: BigInt(processes.tasks) })),
      uptimeMs: () => atOnce(() => clock.monotonicMs() - bootedAtMs),
    },
    files,
    disk,
    processes,
    kernelLog,
    reboots$: reboots.asObservable(),
    programs: (inner) => containers.observed(inner),
    follow(runtime) {
      runtimes.add(runtime);
      const following = new Subscription(() => runtimes.delete(runtime));
      following.add(containers.follow(runtime));
      return following;
    },
    pidOf: (containerId) => containers.pidOf(containerId),
    reboot,
  };
}

function stopAll(runtime: SimRuntime): void {
  for (const { id, ready } of runtime.sandboxes()) if (ready) runtime.killSandbox(id);
  for (const { id, phase } of runtime.containers()) {
    if (phase.kind === "running") runtime.endContainer(id, { afterMs: 0, code: NO_PROCESS_LEFT, reason: "Unknown" });
  }
}

/** Removes what is below a mount point; the mount point stays. */
function emptyTree(files: SimFiles, mountPoint: string): void {
  for (const path of files.paths()) if (path.startsWith(`${mountPoint}/`)) files.drop(path);
}

/** Looks after memory once for all that happened at one instant, and kills until there is enough. */
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
