/** The page `rxlet pressure`: its figures, its order, and its bounds. */
import { describe, expect, it } from "vitest";
import { noPressureSeen } from "../../../../src/core/eviction/nodePressure.ts";
import { pressureText } from "../../../../src/core/eviction/pressureText.ts";
import { type PressureInput, pressureView, type SignalLook } from "../../../../src/core/eviction/pressureView.ts";
import type { PodRank } from "../../../../src/core/eviction/ranking.ts";
import type { Signal, Threshold } from "../../../../src/core/eviction/thresholds.ts";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { NO_PRESSURE } from "../../../../src/core/node/nodeFacts.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const NOW = { wall: epochMs(Date.UTC(2026, 0, 1)), mono: monotonicMs(100_000) };
const HARD: Threshold = {
  signal: "memory.available",
  least: { units: 100 * MIB },
  graceMs: 0,
  reclaim: undefined,
};
const SOFT: Threshold = { ...HARD, least: { units: 1.5 * GIB }, graceMs: 90_000 };
const DISK: Threshold = { ...HARD, signal: "nodefs.available", least: { share: 0.1 } };
const INODES: Threshold = { ...HARD, signal: "imagefs.inodesFree", least: { share: 0.05 } };

const look = (available: number, capacity: number, fall = 0, at = 99_000): SignalLook => {
  const older = { at: monotonicMs(at - 60_000), available: available + fall };
  return { observation: { at: monotonicMs(at), available, capacity }, trend: { older, newer: older } };
};
const rank = (name: string, more: Partial<PodRank> = {}): PodRank => ({
  uid: podUid(name),
  namespace: "demo",
  name,
  isMeasured: true,
  priority: 0,
  usage: 300 * MIB,
  request: 100 * MIB,
  isCritical: false,
  ...more,
});
const image = (name: string, more: { readonly size?: bigint; readonly pinned?: boolean } = {}) => ({
  id: `sha256:${name}`,
  repoTags: [`docker.io/library/${name}:1`],
  repoDigests: [],
  size: 180n * BigInt(MIB),
  pinned: false,
  ...more,
});
const podWith = (name: string, imageName: string) => ({
  metadata: { namespace: "demo", name, uid: name },
  spec: { containers: [{ name: "main", image: imageName }] },
});
const detected = (secondsAgo: number) => ({
  detectedAt: epochMs(NOW.wall - secondsAgo * 1_000),
  usedAt: undefined,
  wasThere: false,
});
const input = (more: Partial<PressureInput> = {}): PressureInput => ({
  now: NOW,
  thresholds: [HARD, DISK],
  looks: new Map<Signal, SignalLook>([
    ["memory.available", look(12 * GIB, 24 * GIB)],
    ["nodefs.available", look(50 * GIB, 100 * GIB)],
  ]),
  state: noPressureSeen,
  pressures: NO_PRESSURE,
  order: { ranks: [] },
  unused: { deadContainers: 0, images: { images: [], records: new Map(), used: new Set() } },
  policy: { highPercent: 85, lowPercent: 80, minAgeMs: 120_000, maxAgeMs: 0 },
  pods: [],
  decision: undefined,
  ...more,
});
const text = (more: Partial<PressureInput>): string => pressureText(pressureView(input(more)));

it("shows a node without pressure", () => {
  expect(text({})).toBe(
    `No pressure, at 2026-01-01T00:00:00.000Z

SIGNAL                        AVAILABLE       THRESHOLD   DISTANCE PER MINUTE
memory.available                   12Gi      hard 100Mi       12Gi          0
nodefs.available                   50Gi       hard 10Gi       40Gi          0

Removed first when a disk is short
  no exited containers
  no unused images

Kept: no images

Evicted first for nodefs.available
  no pods
`,
  );
});

it("shows a node under pressure: since when, what it removes and keeps, which pods it evicts and why, and what it did", () => {
  const young = image("young");
  const shown = text({
    thresholds: [HARD, SOFT, INODES, { ...DISK, signal: "containerfs.available" }],
    looks: new Map<Signal, SignalLook>([["memory.available", look(GIB, 24 * GIB, 200 * MIB, 80_000)]]),
    state: { ...noPressureSeen, metSince: new Map([[SOFT, monotonicMs(40_000)]]) },
    pressures: { ...NO_PRESSURE, memory: true },
    order: {
      ranks: [
        rank("new", { isMeasured: false }),
        rank("hog", { priority: -5 }),
        rank("modest", { usage: 50 * MIB }),
        rank("bare", { request: 0, priority: 10 }),
        rank("dns", { isCritical: true, priority: 2_000_000_000, usage: 1 }),
      ],
    },
    unused: {
      deadContainers: 1,
      images: {
        images: [
          image("old", { size: 2n }),
          image("nginx"),
          image("sidecar"),
          image("pause", { pinned: true, size: 300n * 1024n }),
          young,
          image("exited"),
        ],
        records: new Map([[young.id, detected(30)]]),
        used: new Set(["docker.io/library/exited:1"]),
      },
    },
    pods: [podWith("web", "nginx:1"), podWith("web-2", "nginx:1"), podWith("solo", "sidecar:1")],
    decision: {
      at: { wall: epochMs(NOW.wall - 60_000), mono: monotonicMs(40_000) },
      signal: "memory.available",
      available: "90Mi",
      threshold: "100Mi",
      reclaimed: [],
      evicted: [
        { uid: podUid("x"), namespace: "demo", name: "first", graceSeconds: 0, message: "The node was low on memory." },
      ],
    },
  });
  expect(shown).toBe(
    `MemoryPressure, at 2026-01-01T00:00:00.000Z

SIGNAL                        AVAILABLE       THRESHOLD   DISTANCE PER MINUTE
memory.available                    1Gi      hard 100Mi      924Mi     -200Mi
                                             soft 1.5Gi     -512Mi
  measured 20s ago
  soft threshold met for 60s, grace period 90s
imagefs.inodesFree                    -          hard -          -          -
  not measured

Removed first when a disk is short
  1 exited container
  1 unused image, up to 2
    docker.io/library/old:1                           2

Kept: 5 images, up to 720Mi
    docker.io/library/nginx:1                     180Mi
      used by demo/web and 1 more
    docker.io/library/sidecar:1                   180Mi  used by demo/solo
    docker.io/library/young:1                     180Mi  too young: 30s of 2m
    docker.io/library/exited:1                    180Mi  used by a container
    docker.io/library/pause:1                     300Ki  pinned by the runtime

Evicted first for memory.available
  1  demo/new  usage unknown; priority 0
  2  demo/hog  uses 300Mi, 200Mi over its request; priority -5
  3  demo/modest  uses 50Mi of the 100Mi requested; priority 0
  4  demo/bare  uses 300Mi, requests nothing; priority 10
  5  demo/dns  uses 1 of the 100Mi requested; critical, never evicted

Last action at 2025-12-31T23:59:00.000Z
  memory.available was 90Mi, less than 100Mi
  evicted demo/first
    The node was low on memory.
`,
  );
});

describe("the page has a bound", () => {
  const long = "n".repeat(253);

  it("on pods, images and columns", () => {
    const images = Array.from({ length: 40_000 }, (_, index) => image(`${index}-${"i".repeat(300)}`));
    const view = pressureView(
      input({
        order: { ranks: Array.from({ length: 500 }, (_, index) => rank(`${index}${long}`, { namespace: long })) },
        unused: { deadContainers: 3, images: { images, records: new Map(), used: new Set() } },
        decision: {
          at: NOW,
          signal: "nodefs.available",
          reclaimed: ["containers", "images"],
          evicted: Array.from({ length: 100 }, () => ({
            ...{ uid: podUid("x"), namespace: long, name: long, graceSeconds: 0, message: long.repeat(50) },
          })),
        },
      }),
    );
    expect([view.eviction.pods.length, view.eviction.more]).toEqual([20, 480]);
    expect([view.lastDecision?.evicted.length, view.lastDecision?.more]).toEqual([20, 80]);
    expect([view.reclaim?.images.unused.count, view.reclaim?.images.unused.first.length]).toEqual([40_000, 10]);
    const lines = pressureText(view).split("\n");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => /^ +and \d+ more$/.test(line)).map((line) => line.trim())).toEqual([
      "and 39990 more",
      "and 480 more",
      "and 80 more",
    ]);
  });

  it("and no control characters", () => {
    const ranks = [rank("a\u001b[2Jb\n", { isMeasured: false })];
    expect(text({ order: { ranks } })).toContain("  1  demo/a [2Jb   usage unknown; priority 0\n");
  });
});

it("says what it does not know", () => {
  const shown = text({
    thresholds: [],
    looks: new Map(),
    unused: undefined,
    order: { problem: "cannot measure the pods: the runtime is away" },
  });
  expect(shown).toBe(
    `No pressure, at 2026-01-01T00:00:00.000Z

No eviction threshold is set.

Removed first when a disk is short
  unknown: the runtime lists no containers or images

Evicted first
  cannot measure the pods: the runtime is away
`,
  );
  expect(text({ looks: new Map() })).toContain("  no signal with a threshold was measured yet\n");
});

describe("pressureView", () => {
  const PIDS: Threshold = { ...HARD, signal: "pid.available", least: { units: 10 } };
  const orderOf = (more: Partial<PressureInput>) => pressureView(input(more)).eviction;

  it("has each condition of the node", () => {
    const conditions = (["memory", "disk", "pid"] as const).map(
      (name) => pressureView(input({ pressures: { ...NO_PRESSURE, [name]: true } })).conditions,
    );
    expect(conditions).toEqual([["MemoryPressure"], ["DiskPressure"], ["PIDPressure"]]);
  });

  it("has what is known of a threshold: its amount before a measurement, a grace period if it is soft", () => {
    const brief: Threshold = { ...HARD, graceMs: 1 };
    const { signals } = pressureView(input({ thresholds: [HARD, brief, DISK], looks: new Map() }));
    expect(signals.map(({ thresholds }) => thresholds)).toEqual([
      [
        { kind: "hard", amount: 100 * MIB },
        { kind: "soft", amount: 100 * MIB, graceSeconds: 0.001 },
      ],
      [{ kind: "hard" }],
    ]);
  });

  it("counts in the unit of the signal", () => {
    const { signals } = pressureView(input({ thresholds: [HARD, PIDS, INODES] }));
    expect(signals.map(({ unit }) => unit)).toEqual(["bytes", "pids", "inodes"]);
  });

  it.each<[string, number, number, Signal]>([
    ["a threshold that is met, before one that is only reached", 10 * GIB, 9, "pid.available"],
    ["the smallest share that is left", 20 * GIB, 11, "pid.available"],
    ["the first of two with the same share", 10 * GIB, 10, "nodefs.available"],
  ])("orders pods by %s", (_which, disk, pids, signal) => {
    const looks = new Map<Signal, SignalLook>([
      ["nodefs.available", look(disk, 100 * GIB)],
      ["pid.available", look(pids, 100)],
    ]);
    expect(orderOf({ thresholds: [DISK, PIDS], looks }).signal).toBe(signal);
  });

  it("says why there is no order, and of which signal if that is known", () => {
    const order = { problem: "the runtime is away" };
    expect([orderOf({ order }), orderOf({ order, looks: new Map() }), orderOf({ looks: new Map() })]).toEqual([
      { signal: "nodefs.available", pods: [], more: 0, problem: "the runtime is away" },
      { pods: [], more: 0, problem: "the runtime is away" },
      { pods: [], more: 0, problem: "no signal with a threshold was measured yet" },
    ]);
  });
});
