/** The machine: facts read once at startup, and its usage, read repeatedly. */
import type { Observable } from "rxjs";
import type { CpuSet } from "../core/cpu/cpuSet.ts";
import type { CpuPlace } from "../core/cpu/cpuTopology.ts";
import type { NumaNodeMemory } from "../core/numaMemory/memoryPolicy.ts";
import type { MachineAddresses } from "../core/node/nodeFacts.ts";
import type { KernelMessage } from "../core/oom/kernelRecord.ts";
import type { HostPressure } from "../core/stats/nodeStats.ts";
import type { InterfaceCounters } from "../core/stats/procText.ts";
import type { IdRange } from "../core/userns/idRanges.ts";
import type { Call } from "./call.ts";

/** Huge pages of one size. */
export interface HugepageSize {
  /** Bytes of one page. */
  readonly bytes: bigint;
  /** Name in cgroup files: `2MB`, `1GB`. */
  readonly unit: string;
  /** Name of the Kubernetes resource: `hugepages-2Mi`. */
  readonly resource: string;
  /** Number of reserved pages. */
  readonly count: bigint;
}

/** Memory modules (DIMMs) of one type. */
export interface MemoryModules {
  /** Name given by the kernel: `Unbuffered-DDR4`. */
  readonly type: string;
  readonly count: number;
  readonly bytes: number;
}

/** Numbers of the parts that hold the CPUs. */
export interface CpuTopology {
  readonly cores: number;
  readonly sockets: number;
  /** Only mainframes (s390x) have books and drawers; 0 elsewhere. */
  readonly books: number;
  readonly drawers: number;
}

/** Where the CPUs of the machine are. */
export interface CpuLayout {
  /** All online CPUs. */
  readonly places: readonly CpuPlace[];
  /** CPUs that are present but offline; absent: none. */
  readonly offline?: CpuSet;
  /** NUMA nodes, ascending; also those without CPUs. */
  readonly nodeIds: readonly number[];
  /** Distance of each node to each, in the order of `nodeIds`; undefined when the system does not report it. */
  readonly distances: readonly (readonly number[])[] | undefined;
}

/** Facts of the machine, read at startup. */
export interface Machine extends MachineAddresses {
  /** Lower case, not empty. */
  readonly hostname: string;
  readonly cpuCount: number;
  /** undefined when the system does not report it. */
  readonly cpuTopology: CpuTopology | undefined;
  /** undefined when the system does not report it. */
  readonly cpuLayout: CpuLayout | undefined;
  /** Ascending by id; undefined when the system does not report NUMA nodes. */
  readonly numaMemory: readonly NumaNodeMemory[] | undefined;
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  /** Whether the kernel lists a swap area. */
  readonly isSwapOn: boolean;
  /** Whether a tmpfs can be kept out of swap, by the mount option `noswap`. */
  readonly tmpfsNoSwap: boolean;
  /** Maximum number of process IDs, threads included; undefined when the system does not report it. */
  readonly maxPids: bigint | undefined;
  /** Size of a memory page. */
  readonly pageBytes: number;
  /** Size of the file system of the kubelet's root directory; undefined when it cannot be read. */
  readonly rootFsBytes: bigint | undefined;
  /** Keys: types; empty when the memory controllers do not report them. */
  readonly memoryModules: readonly MemoryModules[];
  /** Smallest first; empty when there are no huge pages. */
  readonly hugepages: readonly HugepageSize[];
  /** Milliseconds since boot, when this was read. */
  readonly uptimeMs: number;
  /** Empty when the system has none. */
  readonly bootId: string;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly kernelVersion: string;
  /** Human-readable name: `Debian GNU/Linux 12 (bookworm)`. */
  readonly osImage: string;
  /** Kubernetes' form: `linux`, `darwin`; `amd64`, `arm64`. */
  readonly operatingSystem: string;
  readonly architecture: string;
  /** undefined when the system has no cgroups. */
  readonly cgroupVersion: 1 | 2 | undefined;
  /** Whether cgroups can limit swap. */
  readonly swapControllerAvailable: boolean;
  /**
   * Subordinate IDs that the system reserves for the user `kubelet`, to assign to pods; undefined when it reserves
   * none.
   */
  readonly subordinateIds: IdRange | undefined;
  /** Thermal throttle directories of each CPU in sysfs, which containers must not see. */
  readonly thermalThrottlePaths: readonly string[];
  /** Whether the kernel enforces AppArmor profiles. */
  readonly appArmorEnabled: boolean;
  /** Whether files and processes have SELinux labels. */
  readonly selinuxEnabled: boolean;
  /** SELinux label of the files of containers by the node's policy; undefined without SELinux, or when no file names it. */
  readonly selinuxFileLabel: string | undefined;
}

/** Space of one file system, as available to unprivileged users. */
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
  /** All memory but free memory, so caches count. */
  readonly usageBytes: bigint;
  /** Memory of processes, without the page cache. */
  readonly rssBytes: bigint;
  /** Counted since boot. */
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
  readonly swapTotalBytes: bigint;
  readonly swapFreeBytes: bigint;
}

/** Process IDs of the whole machine; each thread has one. */
export interface PidUsage {
  readonly max: bigint;
  readonly running: bigint;
}

/** Current usage and addresses of the machine. Errors: KubeletError naming the file that could not be read. */
export interface HostUsage {
  /** Returns the usage of the file system that holds the path. */
  fileSystem(path: string): Call<FileSystemUsage>;
  /** Likewise for a file system on a server that may not respond: waiting for it blocks no other call. */
  remoteFileSystem(path: string): Call<FileSystemUsage>;
  /** Returns the device number of the file system that holds the path: equal for all paths of one file system. */
  device(path: string): Call<bigint>;
  /** Returns the size of the block device at the path, in bytes. */
  blockDevice(path: string): Call<bigint>;
  memory(): Call<MemoryUsage>;
  pids(): Call<PidUsage>;
  /** CPU time of all processes since boot, in nanoseconds. */
  cpuNs(): Call<bigint>;
  /** Pressure stall information: how long tasks waited for CPU, memory and disks. */
  pressure(): Call<HostPressure>;
  /** Network interfaces of the node itself. */
  interfaces(): Call<readonly InterfaceCounters[]>;
  /** Milliseconds since the machine booted. */
  uptimeMs(): Call<number>;
  /** The machine's addresses; `ips` is empty while only the loopback interface is up. */
  addresses(): Call<MachineAddresses>;
}

/**
 * The records of the kernel log from now on, in order; `sequence` has a gap where records were lost. Never completes;
 * errors with a KubeletError when the log cannot be read.
 */
export type KernelLog = Observable<KernelMessage>;
