/**
 * Pod cgroups on cgroup v1 and v2, with either cgroup driver. Names are absolute and in the kubelet's own form,
 * `/kubepods/burstable/pod<uid>`; the systemd driver maps that to `kubepods-burstable-pod<uid>.slice`.
 */
import type { Call } from "./call.ts";

/** Limits in cgroup v1 units; the adapter converts them for v2. An absent limit is left unchanged. */
export interface CgroupResources {
  readonly cpuShares?: number;
  /** Microseconds of CPU per period; -1 means no limit. */
  readonly cpuQuotaUs?: number;
  readonly cpuPeriodUs?: number;
  readonly memoryLimitBytes?: number;
  /** memory.min and memory.low; v1 has neither file. */
  readonly memoryMinBytes?: number;
  readonly memoryLowBytes?: number;
  readonly pidsLimit?: number;
  /**
   * Huge page limits in bytes, keyed by page size as the kernel writes it (`2MB`). A size that is not listed gets a
   * limit of 0.
   */
  readonly hugePages?: Readonly<Record<string, number>>;
}

/** A limit for which the kernel had another value. */
export interface CgroupDrift {
  /** Path of the control file. */
  readonly file: string;
  readonly found: string;
  readonly wanted: string;
}

/** Operations on cgroups by name. */
export interface Cgroups {
  /** Creates the cgroup in every mounted controller and writes the limits. Succeeds when it already exists. */
  ensure(name: string, resources: CgroupResources): Call<void>;
  /**
   * Writes the limits of an existing cgroup in every controller that has limits. Creates no cgroup. Errors: NotFound
   * naming the missing path.
   */
  update(name: string, resources: CgroupResources): Call<void>;
  /**
   * Makes a cgroup have these limits, like `ensure`, but writes only the limits that differ from the kernel's, and
   * emits those. Sizes that differ by less than a memory page are equal.
   */
  correct(name: string, resources: CgroupResources): Call<readonly CgroupDrift[]>;
  /** Returns the memory that the cgroup uses, in bytes. Errors: NotFound without such a cgroup or a memory controller. */
  memoryUsage(name: string): Call<number>;
  /** Kills the processes left in the cgroup and its children, then removes them. Succeeds when it does not exist. */
  destroy(name: string): Call<void>;
  /** Returns the names of child cgroups (last path element), sorted; empty when the cgroup does not exist. */
  list(name: string): Call<readonly string[]>;
}
