/** What the machine is, facts read once at start; and how full it is, read again and again. */
import type { Observable } from "rxjs";
import type { MachineAddresses } from "../core/node/nodeFacts.ts";
import type { HostPressure } from "../core/stats/nodeStats.ts";
import type { InterfaceCounters } from "../core/stats/procText.ts";
import type { IdRange } from "../core/userns/idRanges.ts";
import type { Call } from "./call.ts";

/** Huge pages of one size. */
export interface HugepageSize {
  /** Bytes of one page. */
  readonly bytes: bigint;
  /** As cgroups name it: `2MB`, `1GB`. */
  readonly unit: string;
  /** As resources name it: `hugepages-2Mi`. */
  readonly resource: string;
  /** Pages set aside. */
  readonly count: bigint;
}

export interface Machine extends MachineAddresses {
  /** Lower case, not empty. */
  readonly hostname: string;
  readonly cpuCount: number;
  /** Distinct cores and sockets; undefined where the system does not tell. */
  readonly cpuTopology: { readonly cores: number; readonly sockets: number } | undefined;
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  /** Whether the kernel lists a swap area. */
  readonly isSwapOn: boolean;
  /** Most process ids at once, threads counted; undefined where the system does not tell. */
  readonly maxPids: bigint | undefined;
  /** Of one page of memory. */
  readonly pageBytes: number;
  /** Size of the file system of the kubelet's root directory; undefined where it cannot be told. */
  readonly rootFsBytes: bigint | undefined;
  /** Smallest first; empty without huge pages. */
  readonly hugepages: readonly HugepageSize[];
  /** Milliseconds the machine had been up when this was read. */
  readonly uptimeMs: number;
  /** Empty where the system has none. */
  readonly bootId: string;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly kernelVersion: string;
  /** For people: `Debian GNU/Linux 12 (bookworm)`. */
  readonly osImage: string;
  /** As Kubernetes writes them: `linux`, `darwin`; `amd64`, `arm64`. */
  readonly operatingSystem: string;
  readonly architecture: string;
  /** undefined on systems without cgroups. */
  readonly cgroupVersion: 1 | 2 | undefined;
  /** Whether swap of cgroups can be limited. */
  readonly swapControllerAvailable: boolean;
  /** Ids the system has set aside for the user `kubelet`, to give to pods; undefined when it has not. */
  readonly subordinateIds: IdRange | undefined;
  /** Directories that tell of the heat of each CPU, which no container is to see. */
  readonly thermalThrottlePaths: readonly string[];
  /** Whether the kernel enforces AppArmor profiles. */
  readonly appArmorEnabled: boolean;
  /** Whether files and processes have SELinux labels. */
  readonly selinuxEnabled: boolean;
}

/** Reads the machine. Errors: KubeletError naming the file that should be there. */
export type ReadMachine = () => Call<Machine>;

/** Space of one file system, as its users may have it. */
export interface FileSystemUsage {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
  readonly usedBytes: bigint;
  readonly inodes: bigint;
  readonly inodesFree: bigint;
}

/** Memory of the whole machine. */
export interface MemoryUsage {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
  readonly workingSetBytes: bigint;
  /** All but what is free: caches too. */
  readonly usageBytes: bigint;
  /** Of processes, without files in memory. */
  readonly rssBytes: bigint;
  /** Since boot. */
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
  readonly swapTotalBytes: bigint;
  readonly swapFreeBytes: bigint;
}

/** Process ids of the whole machine; threads have one each. */
export interface PidUsage {
  readonly max: bigint;
  readonly running: bigint;
}

/** How full the machine is now, and what else of it changes. Errors: KubeletError naming what could not be read. */
export interface HostUsage {
  /** Of the file system the path is on. */
  fileSystem(path: string): Call<FileSystemUsage>;
  /** Likewise, where a server may not answer: waiting for it takes nothing from anybody else. */
  remoteFileSystem(path: string): Call<FileSystemUsage>;
  /** Which file system the path is on: equal for all paths of one. */
  device(path: string): Call<bigint>;
  memory(): Call<MemoryUsage>;
  pids(): Call<PidUsage>;
  /** CPU time all processes have had, in nanoseconds. */
  cpuNs(): Call<bigint>;
  /** How long tasks waited for CPU, memory and disks. */
  pressure(): Call<HostPressure>;
  /** Interfaces that are the node's own. */
  interfaces(): Call<readonly InterfaceCounters[]>;
  /** Milliseconds since the machine booted. */
  uptimeMs(): Call<number>;
  /** Which addresses it has; `ips` is empty while no interface but loopback is up. */
  addresses(): Call<MachineAddresses>;
}

/** One record of the kernel's log. */
export interface KernelMessage {
  /** 0 (emergency) to 7 (debug). */
  readonly level: number;
  /** Grows by one from boot. */
  readonly sequence: number;
  /** Microseconds since boot. */
  readonly uptimeUs: number;
  readonly text: string;
}

/** The kernel's log from its oldest record on. Never completes; errors with a KubeletError when it cannot be read. */
export type KernelLog = Observable<KernelMessage>;
