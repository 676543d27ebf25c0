/**
 * Pod cgroups on either cgroup version, by whatever driver. Names are the kubelet's own and absolute, as
 * `/kubepods/burstable/pod<uid>`; with systemd that is `kubepods-burstable-pod<uid>.slice`.
 */
import type { Call } from "./call.ts";

/** Limits in cgroup v1 units; the adapter converts for v2. Absent means leave as is. */
export interface CgroupResources {
  readonly cpuShares?: number;
  /** Microseconds of CPU per period; -1 for no limit. */
  readonly cpuQuotaUs?: number;
  readonly cpuPeriodUs?: number;
  readonly memoryLimitBytes?: number;
  /** memory.min and memory.low; v1 has neither. */
  readonly memoryMinBytes?: number;
  readonly memoryLowBytes?: number;
  readonly pidsLimit?: number;
  /** Bytes of huge pages by the size of a page as the kernel writes it, `2MB`; none of the sizes that are not named. */
  readonly hugePages?: Readonly<Record<string, number>>;
}

export interface Cgroups {
  /** Creates the cgroup in every mounted controller and writes the limits; existing is fine. */
  ensure(name: string, resources: CgroupResources): Call<void>;
  /**
   * Writes the limits of a cgroup that is there in every controller limits may be about, and makes none. Errors: NotFound
   * with what is missing.
   */
  update(name: string, resources: CgroupResources): Call<void>;
  /** Removes the cgroup and its children, ending processes left in them; a missing one is fine. */
  destroy(name: string): Call<void>;
  /** Child cgroup names (last path element), sorted. Missing: empty. */
  list(name: string): Call<readonly string[]>;
}
