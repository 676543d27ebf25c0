/** The order of eviction. Pods are named by what decides their place. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import type { DiskLayout } from "../../../../src/core/eviction/nodeReclaim.ts";
import { rankPods } from "../../../../src/core/eviction/ranking.ts";
import type { Signal } from "../../../../src/core/eviction/thresholds.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import type { FsStats, PodStats } from "../../../../src/core/stats/summary.ts";
import { expectLinear } from "../../../support/expectLinear.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const time = epochMs(0);
const ONE_DISK: DiskLayout = { hasImageFs: false, isSplit: false };
const IMAGE_DISK: DiskLayout = { hasImageFs: true, isSplit: false };
const SPLIT: DiskLayout = { hasImageFs: true, isSplit: true };

interface Ranked {
  readonly requests?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly spec?: Partial<Pod["spec"]>;
  /** Absent: the pod has no stats. */
  readonly stats?: Partial<PodStats>;
}
const memory = (workingSetBytes: number): Partial<PodStats> => ({ memory: { time, workingSetBytes } });
const processes = (process_count: number): Partial<PodStats> => ({ process_stats: { process_count } });
const fs = (usedBytes: number, inodesUsed = usedBytes): FsStats => ({ time, usedBytes, inodesUsed });
const container = (more: Partial<PodStats["containers"][number]>) => ({ name: "main", startTime: time, ...more });

const podFor = (name: string, { requests = {}, priority, spec = {} }: Ranked): Pod =>
  podOf({
    name,
    uid: name,
    spec: { containers: [containerOf({ resources: { requests } })], ...(priority && { priority }), ...spec },
  });
const statsFor = (name: string, { stats }: Ranked): readonly (readonly [string, PodStats])[] =>
  stats === undefined
    ? []
    : [[name, { podRef: { name, namespace: "demo", uid: name }, startTime: time, containers: [], ...stats }]];

function order(signal: Signal, pods: Readonly<Record<string, Ranked>>, layout = ONE_DISK): readonly string[] {
  const given = Object.entries(pods);
  const specs = given.map(([name, ranked]) => podFor(name, ranked));
  const stats = new Map(given.flatMap(([name, ranked]) => statsFor(name, ranked)));
  const ranked = rankPods(signal, specs, stats, layout).map(({ name }) => name);
  const reversed = rankPods(signal, specs.toReversed(), stats, layout).map(({ name }) => name);
  expect(reversed).toEqual(ranked);
  return ranked;
}

describe("the order of eviction", () => {
  it.each(["memory.available", "allocatableMemory.available"] as const)(
    "for %s: unmeasured pods, then those beyond their request, by priority, then by excess",
    (signal) => {
      const requests = { memory: "1Ki" };
      const pods = {
        "within its request": { requests: { memory: "1Mi" }, priority: -5, stats: memory(1_000_000) },
        "excess of 100": { requests, stats: memory(1_124) },
        "excess of 200": { stats: memory(200) },
        "excess, high priority": { requests, priority: 10, stats: memory(1e9) },
        "high priority, unmeasured": { priority: 20 },
        unmeasured: {},
        "at its request": { requests, stats: memory(1_024) },
      };
      expect(order(signal, pods)).toEqual([
        "unmeasured",
        "high priority, unmeasured",
        "excess of 200",
        "excess of 100",
        "excess, high priority",
        "within its request",
        "at its request",
      ]);
    },
  );

  it("for memory counts the request of the pod, and overhead only beside a request", () => {
    const usage = memory(1_500);
    const podLevel = { resources: { requests: { memory: "2k" } } };
    const overhead = { memory: "1k" };
    const pods = {
      "overhead alone": { spec: { overhead }, stats: usage },
      "request and overhead": { requests: { memory: "1k" }, spec: { overhead }, stats: usage },
      "pod-level request": { requests: { memory: "3k" }, spec: podLevel, stats: memory(2_100) },
    };
    const [first, second] = order("memory.available", pods);
    expect([first, second]).toEqual(["overhead alone", "pod-level request"]);
  });

  it("for process ids: by priority, then unmeasured pods, then by number of processes", () => {
    const pods = {
      "high priority": { priority: 7, stats: processes(9_000) },
      few: { stats: processes(3) },
      many: { stats: processes(30), requests: { memory: "1Gi" } },
      unmeasured: {},
    };
    expect(order("pid.available", pods)).toEqual(["unmeasured", "many", "few", "high priority"]);
  });

  it.each<[Signal, Partial<PodStats>]>([
    ["memory.available", memory(1)],
    ["pid.available", processes(1)],
    ["nodefs.available", { containers: [container({ rootfs: fs(1) })] }],
    ["nodefs.inodesFree", { containers: [container({ rootfs: fs(1) })] }],
  ])("for %s counts a missing figure as zero", (signal, stats) => {
    const pods = [podFor("uses one", {}), podFor("no figure", {})];
    const measured = new Map([...statsFor("uses one", { stats }), ...statsFor("no figure", { stats: {} })]);
    const ranks = rankPods(signal, pods, measured, ONE_DISK);
    expect(ranks.map(({ name, usage, isMeasured }) => [name, usage, isMeasured])).toEqual([
      ["uses one", 1, true],
      ["no figure", 0, true],
    ]);
  });

  const storage: Readonly<Record<string, Ranked>> = {
    layer: { stats: { containers: [container({ rootfs: fs(300) })] } },
    logs: { stats: { containers: [container({ logs: fs(200) })] } },
    volume: {
      spec: { volumes: [{ name: "data", emptyDir: {} }] },
      stats: { volume: [{ name: "data", ...fs(100) }] },
    },
    remote: {
      spec: {
        volumes: [
          { name: "claim", persistentVolumeClaim: { claimName: "c" } },
          { name: "memory", emptyDir: { medium: "Memory" } },
        ],
      },
      stats: { volume: ["claim", "memory"].map((name) => ({ name, ...fs(9_000) })) },
    },
  };
  it.each<[string, Signal, DiskLayout, readonly string[]]>([
    ["one disk", "nodefs.available", ONE_DISK, ["layer", "logs", "volume"]],
    ["one disk", "imagefs.inodesFree", ONE_DISK, ["layer", "logs", "volume"]],
    ["a disk of images and layers", "nodefs.available", IMAGE_DISK, ["logs", "volume"]],
    ["a disk of images and layers", "nodefs.inodesFree", IMAGE_DISK, ["logs", "volume"]],
    ["a disk of images and layers", "imagefs.available", IMAGE_DISK, ["layer"]],
    ["a disk of images and layers", "containerfs.available", IMAGE_DISK, ["layer"]],
    ["a disk of images alone", "nodefs.inodesFree", SPLIT, ["layer", "logs", "volume"]],
    ["a disk of images alone", "containerfs.available", SPLIT, ["layer", "logs", "volume"]],
    ["a disk of images alone", "imagefs.available", SPLIT, []],
  ])("with %s counts for %s", (_, signal, layout, counted) => {
    const pods = Object.entries(storage).map(([name, ranked]) => podFor(name, ranked));
    const stats = new Map(Object.entries(storage).flatMap(([name, ranked]) => statsFor(name, ranked)));
    const users = rankPods(signal, pods, stats, layout).filter(({ usage }) => usage > 0);
    expect(users.map(({ name }) => name)).toEqual(counted);
  });

  it("for disks: pods beyond their request first; for inodes a request for bytes counts in the last step alone", () => {
    const requests = { "ephemeral-storage": "1k" };
    const pods = {
      "within its request": { requests, stats: { containers: [container({ rootfs: fs(900, 5) })] } },
      "without a request": { stats: { containers: [container({ rootfs: fs(10, 2) })] } },
    };
    expect(order("nodefs.available", pods)).toEqual(["without a request", "within its request"]);
    expect(order("nodefs.inodesFree", pods)).toEqual(["without a request", "within its request"]);
  });

  it("marks critical pods, which keep their place", () => {
    const pods = [podFor("critical", { priority: 2_000_000_000 }), podFor("plain", {})];
    const ranks = rankPods("memory.available", pods, new Map(), ONE_DISK);
    expect(ranks.map(({ name, isCritical }) => [name, isCritical])).toEqual([
      ["plain", false],
      ["critical", true],
    ]);
  });

  it("takes time in proportion to the volumes of a pod", () => {
    const inputOf = (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `v${index}`);
      const pod = podFor("big", { spec: { volumes: names.map((name) => ({ name, emptyDir: {} })) } });
      const stats = statsFor("big", { stats: { volume: names.map((name) => ({ name, ...fs(1) })) } });
      return { pod, stats };
    };
    expectLinear(inputOf, ({ pod, stats }) => rankPods("nodefs.available", [pod], new Map(stats), ONE_DISK));
  });
});
