import { describe, expect, it } from "vitest";
import { figuresOfV1, figuresOfV2 } from "../../../../src/core/stats/cgroupFigures.ts";
import { deviceAt, parseDiskstats, parseMountedFs } from "../../../../src/core/stats/diskText.ts";

const known = (figures: Readonly<Record<string, number | undefined>>) =>
  Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));

const V1_FILES: Readonly<Record<string, string>> = {
  "cpu/cpu.stat": "nr_periods 4\nnr_throttled 3\nthrottled_time 200\nnr_bursts 2\nburst_time 100\n",
  "cpu/cpu.shares": "256\n",
  "cpu/cpu.cfs_quota_us": "20000\n",
  "cpu/cpu.cfs_period_us": "100000\n",
  "cpuacct/cpuacct.usage": "30\n",
  "cpuacct/cpuacct.usage_user": "20\n",
  "cpuacct/cpuacct.usage_sys": "10\n",
  "memory/memory.stat":
    "pgfault 1\npgmajfault 2\ntotal_cache 3\ntotal_rss 4\ntotal_swap 5\ntotal_mapped_file 6\ntotal_pgfault 7\n" +
    "total_pgmajfault 8\ntotal_inactive_file 40\ntotal_active_file 9\n",
  "memory/memory.usage_in_bytes": "100\n",
  "memory/memory.max_usage_in_bytes": "150\n",
  "memory/memory.kmem.usage_in_bytes": "11\n",
  "memory/memory.failcnt": "12\n",
  "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 13\n",
  "memory/memory.limit_in_bytes": "1000\n",
  "memory/memory.soft_limit_in_bytes": "9223372036854771712\n",
  "pids/pids.current": "14\n",
  "pids/pids.max": "max\n",
};

const ALIKE = {
  ...{
    cpuNs: 30,
    userNs: 20,
    systemNs: 10,
    periods: 4,
    throttledPeriods: 3,
    throttledNs: 200,
    bursts: 2,
    burstNs: 100,
  },
  ...{ cpuQuotaUs: 20_000, cpuPeriodUs: 100_000, memoryUsage: 100, memoryMax: 150, workingSet: 60, cache: 3, rss: 4 },
  ...{ swap: 5, mappedFile: 6, kernelMemory: 11, activeFile: 9, inactiveFile: 40, memoryFailures: 12, oomKills: 13 },
  ...{ memoryLimit: 1000, memoryReservation: 0, pageFaults: 7, majorPageFaults: 8, threads: 14, threadsMax: 0 },
};

describe("figures of a cgroup", () => {
  it("on v2: no swap is another limit than none", () => {
    const limitOf = (text: string) => figuresOfV2((file) => (file === "memory.swap.max" ? text : undefined)).swapLimit;
    expect(["0\n", "4096\n", "max\n"].map(limitOf)).toEqual([0, 4096, Infinity]);
  });

  it("on v1: sums over the hierarchy, and 0 for no limit", () => {
    expect(known(figuresOfV1((controller, file) => V1_FILES[`${controller}/${file}`]))).toEqual({
      ...{ ...ALIKE, cpuShares: 256, ownPageFaults: 1, ownMajorPageFaults: 2 },
    });
  });

  it.each([
    [String(2n ** 62n), Infinity],
    [String(2n ** 62n - 1024n), 2 ** 62 - 1024],
    ["0", 0],
    ["max", Infinity],
    ["many", undefined],
  ])("a limit of %s", (text, limit) => {
    const figures = figuresOfV1((_controller, file) =>
      file === "memory.memsw.limit_in_bytes" ? `${text}\n` : undefined,
    );
    expect(figures.swapLimit).toBe(limit);
  });

  it.each([
    ["100", "total_inactive_file 40", 60],
    ["100", "total_inactive_file 101", 0],
    ["100", "total_cache 1", 100],
    [undefined, "total_inactive_file 40", undefined],
  ])("a usage of %s with %j: a working set of %s", (usage, stat, workingSet) => {
    const files: Readonly<Record<string, string | undefined>> = {
      "memory.usage_in_bytes": usage,
      "memory.stat": `${stat}\n\n broken\n`,
    };
    expect(figuresOfV1((_controller, file) => files[file]).workingSet).toBe(workingSet);
  });

  it("on v1: a quota of -1 means none", () => {
    const figures = figuresOfV1((_controller, file) => (file === "cpu.cfs_quota_us" ? "-1\n" : undefined));
    expect(known(figures)).toEqual({});
  });

  it("on v2: the same names, microseconds as nanoseconds, weight as shares, and pressure", () => {
    const files: Readonly<Record<string, string>> = {
      "cpu.stat":
        "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 4\nnr_throttled 3\nthrottled_usec 200\nnr_bursts 2\nburst_usec 100\n",
      "cpu.weight": "100\n",
      "cpu.max": "20000 100000\n",
      "cpu.pressure":
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n",
      "memory.current": "100\n",
      "memory.peak": "150\n",
      "memory.max": "1000\n",
      "memory.min": "0\n",
      "memory.swap.current": "5\n",
      "memory.swap.max": "max\n",
      "memory.events": "low 0\nmax 12\noom_kill 13\n",
      "memory.stat":
        "anon 4\nfile 3\nkernel 11\nfile_mapped 6\ninactive_file 40\nactive_file 9\npgfault 7\npgmajfault 8\n",
      "pids.current": "14\n",
      "pids.max": "max\n",
    };
    const nanos = { cpuNs: 30_000, userNs: 20_000, systemNs: 10_000, throttledNs: 200_000, burstNs: 100_000 };
    expect(known(figuresOfV2((file) => files[file]))).toEqual({
      ...{ ...ALIKE, ...nanos, cpuShares: 2597, swapLimit: Infinity, ownPageFaults: 7, ownMajorPageFaults: 8 },
      ...{ cpuSomeNs: 7_000, cpuFullNs: 3_000 },
    });
    expect(known(figuresOfV2((file) => (file === "cpu.max" ? "max 100000\n" : undefined)))).toEqual({
      cpuPeriodUs: 100_000,
    });
  });

  it("count kills of the cgroup itself where the kernel does, those of all below it elsewhere", () => {
    const files: Record<string, string> = { "memory.events": "max 1\noom_kill 3\n" };
    expect(figuresOfV2((file) => files[file]).oomKills).toBe(3);
    files["memory.events.local"] = "max 1\noom_kill 2\n";
    expect(figuresOfV2((file) => files[file]).oomKills).toBe(2);
  });
});

describe("disks", () => {
  it("have their counters in the kernel's order", () => {
    expect(parseDiskstats("   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11 12\n").get("7:0")).toEqual({
      ...{ device: "/dev/loop0", reads: 1, readsMerged: 2, sectorsRead: 3, readMs: 4, writes: 5, writesMerged: 6 },
      ...{ sectorsWritten: 7, writeMs: 8, ioCurrent: 9, ioMs: 10, weightedIoMs: 11 },
    });
  });

  it("count zero for counters that a line lacks", () => {
    expect(parseDiskstats("7 0 loop0\n").get("7:0")).toEqual({
      ...{ device: "/dev/loop0", reads: 0, readsMerged: 0, sectorsRead: 0, readMs: 0, writes: 0, writesMerged: 0 },
      ...{ sectorsWritten: 0, writeMs: 0, ioCurrent: 0, ioMs: 0, weightedIoMs: 0 },
    });
  });

  const mounts = parseMountedFs(
    "27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n" +
      "28 27 8:1 / /var/lib rw - ext4 /dev/sda1 rw\n" +
      "29 27 8:2 / /mnt/a\\040b rw - xfs /dev/sdb rw\n" +
      "30 28 8:3 / /var/lib rw - ext4 /dev/sdc rw\n",
  );
  it.each([
    ["/", "/dev/vda"],
    ["/var/library", "/dev/vda"],
    ["/var/lib/containerd", "/dev/sdc"],
    ["/mnt/a b", "/dev/sdb"],
  ])("%s is on %s", (path, device) => {
    expect(deviceAt(mounts, path)).toBe(device);
  });
});
