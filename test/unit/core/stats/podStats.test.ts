import { describe, expect, it } from "vitest";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { statsOfContainers, statsOfSandboxes, writtenFileSystems } from "../../../../src/core/stats/podStats.ts";
import { withStorage } from "../../../../src/core/stats/podStorage.ts";
import * as cri from "../../../../src/gen/cri.ts";

const STAMP = 1_700_000_000_000n * 1_000_000n;
const TIME = epochMs(1_700_000_000_000);
const value = (of: number) => ({ value: BigInt(of) });

const container = (name: string, state: "running" | "exited"): PodRuntimeStatus["containers"][number] => ({
  ...{ id: containerId(`c-${name}`), name, sandboxId: sandboxId("s1"), restartCount: 0, state },
  ...{ createdAt: epochMs(2_000), startedAt: epochMs(2_000), finishedAt: undefined, exitedAt: undefined, exitCode: 0 },
  ...{ reason: "", message: "", image: "i", imageRef: "i", imageId: "i", specHash: "", logPath: "" },
  ...{ terminationMessageFile: undefined, annotations: {} },
});

/** Two running containers, newest first, and one that has ended. */
const POD: PodRuntimeStatus = {
  ...emptyRuntimeStatus(podUid("u"), "web", "demo", 1),
  sandboxes: [
    {
      ...{ id: sandboxId("s1"), attempt: 1, ready: true, createdAt: epochMs(1_000), ips: [], hostNetwork: false },
      ...{ labels: {}, annotations: {} },
    },
  ],
  containers: [container("b", "running"), container("a", "running"), container("old", "exited")],
};

const measured = (name: string, factor: number) =>
  cri.ContainerStats.fromPartial({
    attributes: { id: `c-${name}` },
    cpu: { timestamp: STAMP, usageCoreNanoSeconds: value(100 * factor) },
    memory: { timestamp: STAMP, workingSetBytes: value(10 * factor), availableBytes: value(5) },
    swap: { timestamp: STAMP, swapUsageBytes: value(factor), swapAvailableBytes: value(2) },
    writableLayer: { timestamp: STAMP, fsId: { mountpoint: "/fs" }, usedBytes: value(7), inodesUsed: value(1) },
  });

const SPACE = { availableBytes: 50, capacityBytes: 100, inodesFree: 5, inodes: 10 };
const spaceAt = (path: string) => (path === "/fs" ? SPACE : undefined);

const expected = (name: string, factor: number) => ({
  name,
  startTime: 2_000,
  cpu: { time: TIME, usageCoreNanoSeconds: 100 * factor },
  memory: { time: TIME, workingSetBytes: 10 * factor, availableBytes: 5 },
  swap: { time: TIME, swapUsageBytes: factor, swapAvailableBytes: 2 },
  rootfs: { time: TIME, usedBytes: 7, inodesUsed: 1, ...SPACE },
});

const PART = { podRef: { name: "web", namespace: "demo", uid: "u" }, startTime: 1_000 };
const CONTAINERS = [expected("a", 1), expected("b", 2)];
const SWAP = { time: TIME, swapUsageBytes: 3, swapAvailableBytes: 4 };

describe("stats of pods", () => {
  it("are the runtime's measurements of their sandboxes, with containers oldest first", () => {
    const eth0 = { name: "eth0", rxBytes: value(1), rxErrors: value(0), txBytes: value(2), txErrors: value(0) };
    const linux = {
      cpu: { timestamp: STAMP, usageCoreNanoSeconds: value(400), usageNanoCores: value(9) },
      memory: { timestamp: STAMP, workingSetBytes: value(40) },
      network: { timestamp: STAMP, defaultInterface: eth0, interfaces: [{ ...eth0, name: "net1" }] },
      process: { timestamp: STAMP, processCount: value(3) },
      containers: [measured("b", 2), measured("a", 1), measured("old", 9), measured("stranger", 9)],
    };
    const answers = [
      cri.PodSandboxStats.fromPartial({ attributes: { id: "s1" }, linux }),
      cri.PodSandboxStats.fromPartial({ attributes: { id: "unknown" }, linux }),
    ];
    const interfaces = ["eth0", "net1"].map((name) => ({ name, rxBytes: 1, rxErrors: 0, txBytes: 2, txErrors: 0 }));
    expect(statsOfSandboxes(answers, [POD], spaceAt)).toEqual([
      {
        ...PART,
        containers: CONTAINERS,
        cpu: { time: TIME, usageCoreNanoSeconds: 400, usageNanoCores: 9 },
        memory: { time: TIME, workingSetBytes: 40 },
        network: { time: TIME, ...interfaces[0], interfaces },
        process_stats: { process_count: 3 },
        swap: SWAP,
      },
    ]);
  });

  it("are the sums of their containers where the runtime does not measure sandboxes", () => {
    expect(statsOfContainers([measured("b", 2), measured("a", 1), measured("old", 9)], [POD], spaceAt)).toEqual([
      {
        ...PART,
        containers: CONTAINERS,
        cpu: { time: TIME, usageCoreNanoSeconds: 300 },
        memory: { time: TIME, workingSetBytes: 30 },
        swap: SWAP,
      },
    ]);
  });

  it("have no swap if the runtime reports none", () => {
    const [pod] = statsOfContainers([{ ...measured("a", 1), swap: undefined }], [POD], spaceAt);
    const none = { time: TIME, swapUsageBytes: 0, swapAvailableBytes: 0 };
    expect([pod?.containers[0]?.swap, pod?.swap]).toEqual([none, none]);
  });

  it("omit a pod whose sandbox has stopped or that was not measured", () => {
    const stopped = { ...POD, sandboxes: POD.sandboxes.map((each) => ({ ...each, ready: false })) };
    const answer = cri.PodSandboxStats.fromPartial({ attributes: { id: "s1" }, linux: {} });
    expect(statsOfSandboxes([answer], [stopped], spaceAt)).toEqual([]);
    expect(statsOfContainers([measured("a", 1)], [stopped], spaceAt)).toEqual([]);
    expect(statsOfContainers([], [POD], spaceAt)).toEqual([]);
  });

  it("name each file system once", () => {
    expect(writtenFileSystems([measured("a", 1), measured("b", 1), cri.ContainerStats.create()])).toEqual(["/fs"]);
  });

  it("count logs, volumes on disk and writable layers as ephemeral storage", () => {
    const [pod] = statsOfContainers([measured("a", 1), measured("b", 1)], [POD], spaceAt);
    if (pod === undefined) throw new Error("no pod");
    const summary = { node: { nodeName: "n", startTime: TIME }, pods: [pod] };
    const rootFs = { capacityBytes: 100n, availableBytes: 50n, usedBytes: 40n, inodes: 10n, inodesFree: 5n };
    const logs = new Map([["a", { bytes: 4096n, inodes: 2n }]]);
    const volume = (name: string, isEphemeral: boolean, bytes: bigint) => {
      const space = isEphemeral ? undefined : { ...rootFs, capacityBytes: 7n };
      return { name, isEphemeral, used: { bytes, inodes: 1n }, space };
    };
    const ill = { ...volume("login", false, 5n), condition: { abnormal: true, message: "bad disk" } };
    const volumes = [ill, volume("scratch", true, 1000n)];
    const later = epochMs(TIME + 5);
    const counted = { time: later, byUid: new Map([["u", volumes]]), rootFs };
    const found = withStorage(summary, new Map([["u", logs]]), counted).pods[0];
    expect(found?.containers.map((each) => each.logs)).toEqual([
      { time: later, ...SPACE, usedBytes: 4096, inodesUsed: 2 },
      undefined,
    ]);
    expect(found?.["ephemeral-storage"]).toEqual({ time: later, ...SPACE, usedBytes: 5110, inodesUsed: 5 });
    expect(found?.volume).toEqual([
      { time: later, ...SPACE, usedBytes: 1000, inodesUsed: 1, name: "scratch" },
      {
        ...{ time: later, ...SPACE, capacityBytes: 7, usedBytes: 5, inodesUsed: 1, name: "login" },
        volumeHealthStats: { abnormal: true },
      },
    ]);
    expect(withStorage(summary, new Map(), counted).pods).toEqual([pod]);
  });
});
