import { describe, expect, it } from "vitest";
import type { CgroupLimits } from "../../../../src/core/resources/podCgroup.ts";
import { sliceLimits, sliceProperties, type SystemdHost } from "../../../../src/core/resources/systemdProperties.ts";

const V1: SystemdHost = { cgroupVersion: 1, systemdVersion: 252 };
const V2: SystemdHost = { ...V1, cgroupVersion: 2 };
const OLD: SystemdHost = { ...V2, systemdVersion: 241 };
const INFINITY = "18446744073709551615";

const reported = (limits: CgroupLimits, host: SystemdHost): readonly string[] =>
  sliceLimits(limits, host).properties.map(({ name, signature, words }) => [name, signature, ...words].join(" "));

describe("slices as systemd units", () => {
  it.each([
    [V1, "BlockIOAccounting"],
    [V2, "IOAccounting"],
  ])("have accounting, their parent's Wants and no default dependencies (%o)", (host, accounting) => {
    const properties = sliceProperties("/kubepods/burstable", host);
    expect(properties.map(({ name, signature, words }) => [name, signature, ...words].join(" "))).toEqual([
      "Description s pod cgroup /kubepods/burstable",
      "Wants as 1 kubepods.slice",
      "MemoryAccounting b true",
      "CPUAccounting b true",
      `${accounting} b true`,
      "TasksAccounting b true",
      "DefaultDependencies b false",
    ]);
  });
});

describe("limits as properties", () => {
  const all = { cpuShares: 1024, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000, memoryLimitBytes: 4096, pidsLimit: 9 };

  it.each<[string, CgroupLimits, SystemdHost, readonly string[]]>([
    ["none", {}, V2, []],
    ["protection of memory", { memoryMinBytes: 8, memoryLowBytes: 0 }, V2, ["MemoryMin t 8", "MemoryLow t 0"]],
    ["protection of memory, which v1 has not", { memoryMinBytes: 8, memoryLowBytes: 0 }, V1, []],
    [
      "all, cgroup v2",
      all,
      V2,
      [
        "MemoryMax t 4096",
        "CPUWeight t 39",
        "CPUQuotaPeriodUSec t 100000",
        "CPUQuotaPerSecUSec t 500000",
        "TasksMax t 9",
      ],
    ],
    [
      "all, cgroup v1",
      all,
      V1,
      [
        "MemoryLimit t 4096",
        "CPUShares t 1024",
        "CPUQuotaPeriodUSec t 100000",
        "CPUQuotaPerSecUSec t 500000",
        "TasksMax t 9",
      ],
    ],
    [
      "a period systemd does not know yet",
      { cpuQuotaUs: 50_000, cpuPeriodUs: 100_000 },
      OLD,
      ["CPUQuotaPerSecUSec t 500000"],
    ],
    ["a quota of the usual period", { cpuQuotaUs: 150_000 }, V2, ["CPUQuotaPerSecUSec t 1500000"]],
    [
      "lifted",
      { cpuQuotaUs: -1, cpuPeriodUs: 100_000, memoryLimitBytes: -1, pidsLimit: -1 },
      V2,
      [
        `MemoryMax t ${INFINITY}`,
        "CPUQuotaPeriodUSec t 100000",
        `CPUQuotaPerSecUSec t ${INFINITY}`,
        `TasksMax t ${INFINITY}`,
      ],
    ],
  ])("%s", (_, limits, host, expected) => {
    expect(reported(limits, host)).toEqual(expected);
    expect(sliceLimits(limits, host).limits).toEqual(limits);
  });

  it.each([
    // Parts of a percent of a CPU: rounded up, for the cgroup file as well.
    [1_000, 100_000, "10000", 1_000],
    [12_345, 100_000, "130000", 13_000],
    [5_001, 50_000, "110000", 5_500],
  ])("a quota of %d us in %d us is %s us per second, written as %d", (cpuQuotaUs, cpuPeriodUs, perSecond, written) => {
    expect(reported({ cpuQuotaUs, cpuPeriodUs }, V2)).toContain(`CPUQuotaPerSecUSec t ${perSecond}`);
    expect(sliceLimits({ cpuQuotaUs, cpuPeriodUs }, V2).limits).toEqual({ cpuQuotaUs: written, cpuPeriodUs });
  });
});
