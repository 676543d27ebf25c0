import { firstValueFrom, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import type { DiskCounters } from "../../../../src/core/stats/diskText.ts";
import {
  type MeasuredNode,
  measureContainers,
  readPodCgroups,
} from "../../../../src/pipelines/stats/containerMetrics.ts";
import type { CgroupUsage, Disks } from "../../../../src/ports/cgroupUsage.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const CONFIG = { cgroupsPerQos: true, cgroupRoot: "/", cgroupDriver: "cgroupfs" } as const;
const podOn = (hostNetwork: boolean): PodRuntimeStatus => ({
  ...emptyRuntimeStatus(podUid("u-1"), "web", "demo", 1),
  sandboxes: [
    {
      ...{ id: sandboxId("s1"), attempt: 1, ready: true, createdAt: epochMs(1_000), ips: [], hostNetwork },
      ...{ labels: {}, annotations: {} },
    },
  ],
  containers: [
    {
      ...{ id: containerId("c1"), name: "main", sandboxId: sandboxId("s1"), restartCount: 0, state: "running" },
      ...{ createdAt: epochMs(2_000), startedAt: epochMs(3_000), finishedAt: undefined, exitedAt: undefined },
      ...{ exitCode: 0, reason: "", message: "", image: "i", imageRef: "i", imageId: "i", specHash: "" },
      ...{ logPath: "", terminationMessageFile: undefined, annotations: {} },
    },
  ],
});
const PATHS = [
  ...["/", "/kubepods", "/kubepods/besteffort", "/kubepods/burstable", "/system.slice"],
  ...["/kubepods/podu-1", "/kubepods/podu-1/s1", "/kubepods/podu-1/c1", "/kubepods/podgone"],
];
const counters = (device: string) => ({ device }) as DiskCounters;
const DISKS: Disks = {
  counters: new Map([["8:1", counters("/dev/sda1")]]),
  mounts: [
    { mountpoint: "/", number: "8:1", device: "/dev/sda1" },
    { mountpoint: "/proc", number: "0:5", device: "proc" },
    { mountpoint: "/data", number: "8:2", device: "/dev/sda2" },
    { mountpoint: "/again", number: "8:1", device: "/dev/sda1" },
  ],
};

/** A port that keeps what it is asked: where it begins, and what it reads of each path. */
function recordingUsage(disks: CgroupUsage["disks"] = () => of(DISKS)) {
  const asked: { top: readonly string[]; looks: Record<string, string> } = { top: [], looks: {} };
  const usage: CgroupUsage = {
    read: (top, look) => {
      asked.top = top;
      for (const path of PATHS) {
        const wanted = look(path);
        const parts = Object.entries(wanted ?? {}).filter(([, isRead]) => isRead);
        if (wanted !== undefined) asked.looks[path] = parts.map(([part]) => part).join(" ");
      }
      return of([]);
    },
    own: () => of(undefined),
    disks,
  };
  return { asked, usage };
}

const fails = () => throwError(() => kubeletError("Io", "cannot read"));

/** Measures a node with one pod; the file system of `/data` cannot be measured. */
async function measure(cgroupUsage: CgroupUsage | undefined, measured$ = of({ summary: {}, writableFs: "/data/c" })) {
  const telemetry = recordingTelemetry();
  const hostUsage = {
    interfaces: () => of([{ name: "eth0" }]),
    fileSystem: (path: string) => (path === "/data" ? fails() : of({ path })),
  };
  const pods = [podOn(false)];
  const found = await firstValueFrom(
    measureContainers(
      measured$ as unknown as Observable<MeasuredNode>,
      { runtimeStatuses: { values: () => pods } } as unknown as Parameters<typeof measureContainers>[1],
      { telemetry, hostUsage, cgroupUsage } as unknown as Parameters<typeof measureContainers>[2],
      CONFIG,
    ),
  );
  return { found, pods };
}

describe("the measurement for /metrics/cadvisor", () => {
  it("reads the node, the cgroups of pods, and the processes of containers", async () => {
    const { asked, usage } = recordingUsage();
    await measure(usage);
    expect(asked).toEqual({
      top: ["/", "/kubepods"],
      looks: {
        "/": "",
        "/kubepods": "below",
        "/kubepods/besteffort": "below",
        "/kubepods/burstable": "below",
        "/kubepods/podu-1": "below",
        "/kubepods/podu-1/s1": "processes network",
        "/kubepods/podu-1/c1": "processes",
      },
    });
  });

  it("has each disk once, at its first mount, without the space that cannot be measured", async () => {
    const { found } = await measure(recordingUsage().usage);
    expect(found.nodeDisks.toSorted((a, b) => (a.device < b.device ? -1 : 1))).toEqual([
      { device: "/dev/sda1", counters: counters("/dev/sda1"), space: { path: "/" } },
      { device: "/dev/sda2", counters: undefined, space: undefined },
    ]);
    expect([found.containerDevice, found.deviceNames, found.nodeInterfaces]).toEqual([
      "/dev/sda2",
      DISKS.counters,
      [{ name: "eth0" }],
    ]);
  });

  it.each([
    ["cannot be measured", recordingUsage(fails).usage],
    ["are not read on this machine", undefined],
  ])("has the figures of the runtime when cgroups and disks %s", async (_, usage) => {
    const { found, pods } = await measure(usage);
    expect(found).toEqual({
      ...{ readings: [], pods, summary: {}, nodeInterfaces: [{ name: "eth0" }], nodeDisks: [] },
      ...{ deviceNames: new Map(), containerDevice: undefined },
    });
  });

  it("has no figures of a runtime that fails", async () => {
    const { found } = await measure(recordingUsage().usage, fails());
    expect([found.summary, found.containerDevice, found.nodeDisks.length]).toEqual([undefined, undefined, 2]);
  });
});

describe("the cgroups of pods for their statistics", () => {
  const looksOf = (hostNetwork: boolean, config: Parameters<typeof readPodCgroups>[2] = CONFIG) => {
    const { asked, usage } = recordingUsage();
    readPodCgroups([podOn(hostNetwork)], usage, config);
    return asked;
  };

  it.each([
    [false, "network"],
    [true, ""],
  ])("include the network of a sandbox only if it is its own: %j", (hostNetwork, ofSandbox) => {
    expect(looksOf(hostNetwork)).toEqual({
      top: ["/kubepods"],
      looks: {
        "/kubepods": "below",
        "/kubepods/besteffort": "below",
        "/kubepods/burstable": "below",
        "/kubepods/podu-1": "below pressure",
        "/kubepods/podu-1/s1": ofSandbox,
        "/kubepods/podu-1/c1": "pressure",
      },
    });
  });

  it("are none on a node without cgroups by QoS class", () => {
    expect(looksOf(false, { ...CONFIG, cgroupsPerQos: false }).top).toEqual([]);
  });
});
