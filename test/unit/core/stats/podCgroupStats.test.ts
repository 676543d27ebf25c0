import { describe, expect, it } from "vitest";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { withPodCgroups } from "../../../../src/core/stats/podCgroupStats.ts";

const TIME = epochMs(5_000);
const sandbox = (id: string, ready: boolean): PodRuntimeStatus["sandboxes"][number] => ({
  ...{ id: sandboxId(id), attempt: 0, ready, createdAt: epochMs(1), ips: [], hostNetwork: false },
  ...{ labels: {}, annotations: {} },
});
const POD: PodRuntimeStatus = {
  ...emptyRuntimeStatus(podUid("u"), "web", "demo", 1),
  sandboxes: [sandbox("s2", true), sandbox("s1", false)],
  containers: [{ id: containerId("c1"), name: "main", state: "running" } as never],
};
const SUMS = {
  ...{ podRef: { name: "web", namespace: "demo", uid: "u" }, startTime: epochMs(1), containers: [] },
  cpu: { time: epochMs(1), usageCoreNanoSeconds: 1 },
  swap: { time: epochMs(1), swapUsageBytes: 3 },
};
const interfaceOf = (name: string, rxBytes: number) => ({
  ...{ name, rxBytes, rxPackets: 9, rxErrors: 0, rxDropped: 9 },
  ...{ txBytes: 2, txPackets: 9, txErrors: 0, txDropped: 9 },
});
const reported = (name: string, rxBytes: number) => ({ name, rxBytes, rxErrors: 0, txBytes: 2, txErrors: 0 });
const reading = (path: string, more: object = {}) => ({
  ...{ path, time: TIME, createdAt: undefined, figures: {}, interfaces: [] },
  ...more,
});
const psi = (total: number) => {
  const figures = { total, avg10: 0, avg60: 0, avg300: 0 };
  return { full: figures, some: figures };
};

describe("stats of pods by their cgroups", () => {
  it("are those of the pod's own cgroup, with the network of the running sandbox", () => {
    const figures = { cpuNs: 400, memoryUsage: 50, workingSet: 40, threads: 3, swap: 9, swapLimit: Infinity };
    const readings = [
      reading("/kubepods/podu", { figures, pressure: { cpu: psi(1), memory: psi(2), io: psi(3) } }),
      reading("/kubepods/podu/s1", { interfaces: [interfaceOf("eth0", 99)] }),
      reading("/kubepods/podu/s2", { interfaces: [interfaceOf("net1", 5), interfaceOf("eth0", 4)] }),
      reading("/kubepods/podstranger", { figures: { cpuNs: 7 } }),
    ];
    expect(withPodCgroups([SUMS], [POD], readings)).toEqual([
      {
        ...SUMS,
        cpu: { time: TIME, usageCoreNanoSeconds: 400, psi: psi(1) },
        memory: { time: TIME, usageBytes: 50, workingSetBytes: 40, psi: psi(2) },
        io: { time: TIME, psi: psi(3) },
        swap: { time: TIME, swapUsageBytes: 9 },
        process_stats: { process_count: 3 },
        network: { time: TIME, ...reported("eth0", 4), interfaces: [reported("net1", 5), reported("eth0", 4)] },
      },
    ]);
  });

  it.each([
    [{ swap: 9, swapLimit: Infinity }, { swapUsageBytes: 9 }],
    [
      { swap: 0, swapLimit: 0 },
      { swapUsageBytes: 0, swapAvailableBytes: 0 },
    ],
    [
      { swap: 9, swapLimit: 4 },
      { swapUsageBytes: 9, swapAvailableBytes: 0 },
    ],
    [
      { swap: 9, swapLimit: 30 },
      { swapUsageBytes: 9, swapAvailableBytes: 21 },
    ],
    [{}, { swapUsageBytes: 0, swapAvailableBytes: 0 }],
  ])("have the swap of the pod's own cgroup: %j", (figures, swap) => {
    const [pod] = withPodCgroups(
      [SUMS],
      [POD],
      [reading("/kubepods/podu", { figures: { memoryUsage: 5, ...figures } })],
    );
    expect(pod?.swap).toEqual({ time: TIME, ...swap });
  });

  it("have the figures of each container's cgroup, and of the runtime what a cgroup does not have", () => {
    const containers = [
      {
        ...{ name: "main", startTime: epochMs(1), rootfs: { time: epochMs(1), usedBytes: 4 } },
        cpu: { time: epochMs(1), usageCoreNanoSeconds: 1, usageNanoCores: 5 },
        // Runtimes report no available memory for a container without a limit, and no swap.
        memory: { time: epochMs(1), workingSetBytes: 30, availableBytes: 0 },
        swap: { time: epochMs(1), swapUsageBytes: 0, swapAvailableBytes: 0 },
      },
      { name: "other", startTime: epochMs(1) },
    ];
    const figures = { cpuNs: 7, memoryUsage: 50, workingSet: 40, memoryLimit: 0, swap: 9, swapLimit: 30 };
    const pressure = { cpu: psi(1), memory: psi(2), io: psi(3) };
    const [pod] = withPodCgroups(
      [{ ...SUMS, containers }],
      [POD],
      [reading("/kubepods/podu/c1", { figures, pressure })],
    );
    expect(pod?.containers).toEqual([
      {
        ...{ name: "main", startTime: epochMs(1), rootfs: { time: epochMs(1), usedBytes: 4 } },
        cpu: { time: TIME, usageCoreNanoSeconds: 7, usageNanoCores: 5, psi: psi(1) },
        memory: { time: TIME, usageBytes: 50, workingSetBytes: 40, psi: psi(2) },
        io: { time: TIME, psi: psi(3) },
        swap: { time: TIME, swapUsageBytes: 9, swapAvailableBytes: 21 },
      },
      { name: "other", startTime: epochMs(1) },
    ]);
  });

  it("stay the sums of containers without a cgroup or without its figures", () => {
    expect(withPodCgroups([SUMS], [POD], [])).toEqual([SUMS]);
    expect(withPodCgroups([SUMS], [POD], [reading("/kubepods/podu"), reading("/kubepods/podu/s2")])).toEqual([SUMS]);
  });
});
