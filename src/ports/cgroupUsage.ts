/** What cgroups and disks of this machine are used for, read when somebody asks. */
import type { EpochMs } from "../core/ids.ts";
import type { CgroupFigures, DeviceIo } from "../core/stats/cgroupFigures.ts";
import type { DiskCounters, MountedFs } from "../core/stats/diskText.ts";
import type { HostPressure } from "../core/stats/nodeStats.ts";
import type { InterfaceCounters } from "../core/stats/procText.ts";
import type { Call } from "./call.ts";

/** One cgroup at one time. */
export interface CgroupReading {
  /** Below the root of the hierarchy, `/kubepods/besteffort`. */
  readonly path: string;
  readonly time: EpochMs;
  readonly createdAt: EpochMs | undefined;
  readonly figures: CgroupFigures;
  readonly io: readonly DeviceIo[];
  /** Of the network its first process is in; empty where that was not asked for. */
  readonly interfaces: readonly InterfaceCounters[];
  /** undefined where that was not asked for, or the kernel does not say. */
  readonly pressure: HostPressure | undefined;
}

/** What to read of a cgroup beside its own files. */
export interface CgroupLook {
  /** The cgroups right below it, those of them that are to be looked at. */
  readonly below?: boolean;
  /** Its processes one by one: open files and sockets. */
  readonly processes?: boolean;
  readonly network?: boolean;
  readonly pressure?: boolean;
}

/** Everything read of a machine's block devices. */
export interface Disks {
  /** By major and minor number. */
  readonly counters: ReadonlyMap<string, DiskCounters>;
  readonly mounts: readonly MountedFs[];
}

/** Reads in slices of a few milliseconds, so that nothing else waits for it. */
export interface CgroupUsage {
  /** These and what is below; `look`: what of each, undefined leaves it out. A cgroup that is not there is left out. */
  read(paths: readonly string[], look: (path: string) => CgroupLook | undefined): Call<readonly CgroupReading[]>;
  /** Where this process runs; undefined: in no cgroup of its own. */
  own(): Call<string | undefined>;
  /** Errors: KubeletError naming what could not be read. */
  disks(): Call<Disks>;
}
