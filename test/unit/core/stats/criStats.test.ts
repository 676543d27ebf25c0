import { expect, it } from "vitest";
import * as cri from "../../../../src/gen/cri.ts";
import {
  cpuStats,
  ioStats,
  memoryStats,
  networkStats,
  swapStats,
  usedFs,
} from "../../../../src/core/stats/criStats.ts";

const timestamp = 1_700_000_000_123_456_789n;
const time = 1_700_000_000_123;
const value = (figure: number) => ({ value: BigInt(figure) });
const data = (first: number) => ({ Total: BigInt(first), Avg10: first + 0.1, Avg60: first + 0.2, Avg300: first + 0.3 });
const PSI = { Full: data(1), Some: data(2) };
const psi = {
  full: { total: 1, avg10: 1.1, avg60: 1.2, avg300: 1.3 },
  some: { total: 2, avg10: 2.1, avg60: 2.2, avg300: 2.3 },
};
const NOTHING = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

it("CPU usage has its time, figures and pressure", () => {
  const usage = cri.CpuUsage.fromPartial({
    timestamp,
    usageNanoCores: value(3),
    usageCoreNanoSeconds: value(4),
    psi: PSI,
  });
  expect(cpuStats(usage)).toEqual({ time, usageNanoCores: 3, usageCoreNanoSeconds: 4, psi });
});

it("memory usage has each figure that is set", () => {
  const usage = {
    ...{ availableBytes: value(1), usageBytes: value(2), workingSetBytes: value(3) },
    ...{ rssBytes: value(4), pageFaults: value(5), majorPageFaults: value(0) },
  };
  expect(memoryStats(cri.MemoryUsage.fromPartial({ timestamp, ...usage }))).toEqual({
    ...{ time, availableBytes: 1, usageBytes: 2, workingSetBytes: 3, rssBytes: 4, pageFaults: 5, majorPageFaults: 0 },
  });
  expect(memoryStats(cri.MemoryUsage.fromPartial({ timestamp }))).toEqual({ time });
});

it("swap, file systems and I/O have their figures", () => {
  const swap = cri.SwapUsage.fromPartial({ timestamp, swapAvailableBytes: value(1), swapUsageBytes: value(2) });
  const fs = cri.FilesystemUsage.fromPartial({ timestamp, usedBytes: value(3), inodesUsed: value(4) });
  const io = cri.IoUsage.fromPartial({ timestamp, psi: {} });
  expect([swapStats(swap), usedFs(fs), ioStats(io)]).toEqual([
    { time, swapAvailableBytes: 1, swapUsageBytes: 2 },
    { time, usedBytes: 3, inodesUsed: 4 },
    { time, psi: { full: NOTHING, some: NOTHING } },
  ]);
});

it("network usage lists the default interface first, and once", () => {
  const figures = { rxBytes: value(1), rxErrors: value(2), txBytes: value(3), txErrors: value(4) };
  const eth0 = { name: "eth0", rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 };
  const interfaces = [{ name: "eth1" }, { name: "eth0", ...figures }];
  const withDefault = cri.NetworkUsage.fromPartial({
    timestamp,
    interfaces,
    defaultInterface: { name: "eth0", ...figures },
  });
  expect([networkStats(withDefault), networkStats(cri.NetworkUsage.fromPartial({ timestamp, interfaces }))]).toEqual([
    { time, ...eth0, interfaces: [eth0, { name: "eth1" }] },
    { time, interfaces: [{ name: "eth1" }, eth0] },
  ]);
});
