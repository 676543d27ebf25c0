/**
 * Slices and their limits as properties of systemd units. Upstream: systemd/v1.go, systemd/v2.go and addCPUQuota of
 * opencontainers/cgroups.
 */
import { sharesToWeight } from "./cgroupMath.ts";
import { parentSliceUnit } from "./cgroupDriver.ts";
import type { CgroupLimits } from "./podCgroup.ts";

/** A property of a unit; `words` are the value as D-Bus arguments, where a list starts with its length. */
export interface UnitProperty {
  readonly name: string;
  /** D-Bus type of the value: `b`, `s`, `t` (64 bits, unsigned) or `as`. */
  readonly signature: "b" | "s" | "t" | "as";
  readonly words: readonly string[];
}

/** Version of systemd and of the cgroup hierarchy. */
export interface SystemdHost {
  readonly cgroupVersion: 1 | 2;
  /** Major version, 252 for example. */
  readonly systemdVersion: number;
}

/** Limits for systemd and the matching values of cgroup files, so that neither overwrites the other. */
export interface SliceLimits {
  readonly properties: readonly UnitProperty[];
  readonly limits: CgroupLimits;
}

const INFINITY = (2n ** 64n - 1n).toString();
const DEFAULT_PERIOD_US = 100_000;
const US_PER_S = 1_000_000;
/** systemd rounds quotas to whole percents of a CPU. */
const PERCENT_US = 10_000;
/** The first systemd version with CPUQuotaPeriodUSec. */
const QUOTA_PERIOD_SINCE = 242;

const flag = (name: string, value: boolean): UnitProperty => ({ name, signature: "b", words: [String(value)] });

/** A negative value means no limit. */
const amount = (name: string, value: number): UnitProperty => ({
  name,
  signature: "t",
  words: [value < 0 ? INFINITY : String(value)],
});

/** Returns the properties of every slice. `Delegate` is absent: systemd accepts it for scopes and services only. */
export function sliceProperties(cgroup: string, { cgroupVersion }: SystemdHost): readonly UnitProperty[] {
  return [
    { name: "Description", signature: "s", words: [`pod cgroup ${cgroup}`] },
    { name: "Wants", signature: "as", words: ["1", parentSliceUnit(cgroup)] },
    flag("MemoryAccounting", true),
    flag("CPUAccounting", true),
    flag(cgroupVersion === 2 ? "IOAccounting" : "BlockIOAccounting", true),
    flag("TasksAccounting", true),
    flag("DefaultDependencies", false),
  ];
}

/**
 * Returns a quota in microseconds of CPU per second, rounded up to systemd's precision, and the resulting quota per
 * period.
 */
function quotaPerSecond(quotaUs: number, periodUs: number): { readonly perSecondUs: number; readonly quotaUs: number } {
  const wanted = Math.floor((quotaUs * US_PER_S) / periodUs);
  if (wanted % PERCENT_US === 0) return { perSecondUs: wanted, quotaUs };
  const perSecondUs = Math.ceil(wanted / PERCENT_US) * PERCENT_US;
  return { perSecondUs, quotaUs: Math.floor((perSecondUs * periodUs) / US_PER_S) };
}

function cpuQuota(limits: CgroupLimits, { systemdVersion }: SystemdHost): SliceLimits {
  const { cpuQuotaUs, cpuPeriodUs } = limits;
  if (cpuQuotaUs === undefined && cpuPeriodUs === undefined) return { properties: [], limits };
  const period =
    cpuPeriodUs !== undefined && systemdVersion >= QUOTA_PERIOD_SINCE
      ? [amount("CPUQuotaPeriodUSec", cpuPeriodUs)]
      : [];
  if (cpuQuotaUs === undefined || cpuQuotaUs <= 0) {
    return { properties: [...period, amount("CPUQuotaPerSecUSec", -1)], limits };
  }
  const { perSecondUs, quotaUs } = quotaPerSecond(cpuQuotaUs, cpuPeriodUs ?? DEFAULT_PERIOD_US);
  return {
    properties: [...period, amount("CPUQuotaPerSecUSec", perSecondUs)],
    limits: { ...limits, cpuQuotaUs: quotaUs },
  };
}

/** Returns the limits of a slice. */
export function sliceLimits(limits: CgroupLimits, host: SystemdHost): SliceLimits {
  const { cpuShares, memoryLimitBytes, memoryMinBytes, memoryLowBytes, pidsLimit } = limits;
  const isV2 = host.cgroupVersion === 2;
  const quota = cpuQuota(limits, host);
  return {
    properties: [
      ...(memoryLimitBytes === undefined ? [] : [amount(isV2 ? "MemoryMax" : "MemoryLimit", memoryLimitBytes)]),
      ...(isV2 && memoryMinBytes !== undefined ? [amount("MemoryMin", memoryMinBytes)] : []),
      ...(isV2 && memoryLowBytes !== undefined ? [amount("MemoryLow", memoryLowBytes)] : []),
      ...(cpuShares === undefined
        ? []
        : [isV2 ? amount("CPUWeight", sharesToWeight(cpuShares)) : amount("CPUShares", cpuShares)]),
      ...quota.properties,
      ...(pidsLimit === undefined ? [] : [amount("TasksMax", pidsLimit)]),
    ],
    limits: quota.limits,
  };
}
