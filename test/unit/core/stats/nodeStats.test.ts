import { expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { type HostFigures, networkStats, nodeStats } from "../../../../src/core/stats/nodeStats.ts";

const time = epochMs(5_000);
const startTime = epochMs(1_000);
const NONE: HostFigures = {
  ...{ time, cpuNs: undefined, memory: undefined, pids: undefined, interfaces: [], rootFs: undefined },
  ...{ pressure: undefined, systemContainers: [] },
};
const memory = {
  ...{ availableBytes: 1n, usageBytes: 2n, workingSetBytes: 3n, rssBytes: 4n, pageFaults: 5n, majorPageFaults: 6n },
  ...{ swapTotalBytes: 10n, swapFreeBytes: 7n },
};
const MEMORY = {
  ...{ time, availableBytes: 1, usageBytes: 2, workingSetBytes: 3, rssBytes: 4, pageFaults: 5, majorPageFaults: 6 },
};
const swap = { time, swapAvailableBytes: 7, swapUsageBytes: 3 };
const psi = (total: number) => {
  const figures = { total, avg10: 0, avg60: 0, avg300: 0 };
  return { full: figures, some: figures };
};
const counters = (name: string, first: number) => ({
  ...{ name, rxBytes: first, rxPackets: 9, rxErrors: first + 1, rxDropped: 9 },
  ...{ txBytes: first + 2, txPackets: 9, txErrors: first + 3, txDropped: 9 },
});
const reported = (name: string, first: number) => ({
  ...{ name, rxBytes: first, rxErrors: first + 1, txBytes: first + 2, txErrors: first + 3 },
});
const rootFs = { capacityBytes: 100n, availableBytes: 50n, usedBytes: 40n, inodes: 10n, inodesFree: 4n };
const fs = {
  ...{ time, capacityBytes: 100, availableBytes: 50, usedBytes: 40, inodes: 10, inodesFree: 4, inodesUsed: 6 },
};
const pods = { name: "pods", startTime };
const fileSystem = { time, usedBytes: 1 };

it.each<[string, Partial<HostFigures>, object]>([
  ["nothing that is unknown", {}, {}],
  ["CPU time, also none", { cpuNs: 0n }, { cpu: { time, usageCoreNanoSeconds: 0 } }],
  ["memory and swap", { memory }, { memory: MEMORY, swap }],
  [
    "pressure of what is known",
    { cpuNs: 8n, memory, pressure: { cpu: psi(1), memory: psi(2), io: psi(3) } },
    {
      cpu: { time, usageCoreNanoSeconds: 8, psi: psi(1) },
      memory: { ...MEMORY, psi: psi(2) },
      swap,
      io: { time, psi: psi(3) },
    },
  ],
  ["the file system of the root directory", { rootFs }, { fs }],
  ["processes", { pids: { max: 9n, running: 8n } }, { rlimit: { time, maxpid: 9, curproc: 8 } }],
  ["its own cgroups", { systemContainers: [pods] }, { systemContainers: [pods] }],
  ["interfaces", { interfaces: [counters("eth1", 10)] }, { network: { time, interfaces: [reported("eth1", 10)] } }],
])("stats of a node have %s", (_, figures, expected) => {
  const unknown = { images: undefined, containers: undefined };
  expect(nodeStats("n1", startTime, { ...NONE, ...figures }, unknown)).toEqual({
    nodeName: "n1",
    startTime,
    ...expected,
  });
});

it.each([
  [{ images: fileSystem, containers: undefined }, { imageFs: fileSystem }],
  [{ images: undefined, containers: fileSystem }, { containerFs: fileSystem }],
  [
    { images: fileSystem, containers: { time, usedBytes: 2 } },
    { imageFs: fileSystem, containerFs: { time, usedBytes: 2 } },
  ],
])("the runtime's file systems %j become %j", (known, runtime) => {
  expect(nodeStats("n1", startTime, NONE, known)).toEqual({ nodeName: "n1", startTime, runtime });
});

it("the default interface is eth0, wherever it is listed", () => {
  expect(networkStats(time, [counters("eth1", 10), counters("eth0", 20)])).toEqual({
    time,
    ...reported("eth0", 20),
    interfaces: [reported("eth1", 10), reported("eth0", 20)],
  });
});
