/** Resource usage of the machine's cgroups and disks, read on demand. */
import type { EpochMs } from "../core/ids.ts";
import type { CgroupFigures, DeviceIo } from "../core/stats/cgroupFigures.ts";
import type { DiskCounters, MountedFs } from "../core/stats/diskText.ts";
import type { HostPressure } from "../core/stats/nodeStats.ts";
import type { InterfaceCounters } from "../core/stats/procText.ts";
import type { Call } from "./call.ts";

/** Usage of a cgroup at one time. */
export interface CgroupReading {
  /** Path below the root of the hierarchy, `/kubepods/besteffort`. */
  readonly path: string;
  readonly time: EpochMs;
  readonly createdAt: EpochMs | undefined;
  readonly figures: CgroupFigures;
  readonly io: readonly DeviceIo[];
  /** Interfaces of the network namespace of the cgroup's first process; empty when not requested. */
  readonly interfaces: readonly InterfaceCounters[];
  /** undefined when not requested or when the kernel does not report pressure. */
  readonly pressure: HostPressure | undefined;
}

/** Selects the data to read of a cgroup, in addition to its own files. */
export interface CgroupLook {
  /** Also visits the direct children, each as `look` decides. */
  readonly below?: boolean;
  /** Reads each process: open files and sockets. */
  readonly processes?: boolean;
  readonly network?: boolean;
  readonly pressure?: boolean;
}

/** All data read of the machine's block devices. */
export interface Disks {
  /** Keyed by major and minor number. */
  readonly counters: ReadonlyMap<string, DiskCounters>;
  readonly mounts: readonly MountedFs[];
}

/** Reads in slices of a few milliseconds, so that the event loop stays free. */
export interface CgroupUsage {
  /**
   * Reads these cgroups and their descendants. `look` selects the data to read of each; undefined skips it. A cgroup
   * that does not exist is left out.
   */
  read(paths: readonly string[], look: (path: string) => CgroupLook | undefined): Call<readonly CgroupReading[]>;
  /** Cgroup path of this process; undefined when it has no cgroup of its own. */
  own(): Call<string | undefined>;
  /** Reads the counters and mounts of all disks. Errors: KubeletError naming the file that could not be read. */
  disks(): Call<Disks>;
}
