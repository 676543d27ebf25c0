import { describe, expect, it } from "vitest";
import { advanceTop, EMPTY_MODEL, MAX_MARBLES, type TopModel } from "../../../../src/cli/top/topModel.ts";
import type { TopView } from "../../../../src/cli/top/topBody.ts";
import { afterModel, beginTop } from "../../../../src/cli/top/topState.ts";
import { topLines } from "../../../../src/cli/top/topViews.ts";
import type { LiveMarble, LiveMessage, LivePod } from "../../../../src/core/live/liveMessages.ts";

const NOW = 1_000_000;
const GIB = 1_024 ** 3;

const pod = (name: string, more: Partial<LivePod> = {}): LivePod => ({
  ...{ uid: name, namespace: "demo", name, source: "api", state: "syncing", phase: "Running", waits: [] },
  containers: [{ name: "main", kind: "main", state: "running", ready: true, restarts: 0 }],
  ...more,
});
const MESSAGES: readonly LiveMessage[] = [
  {
    ...{ kind: "graph", at: NOW, node: "one", version: "1.36" },
    parts: [{ name: "pleg", reads: ["registry"], writes: ["listing", "inspections"] }],
    places: [],
  },
  {
    kind: "flow",
    at: NOW,
    places: [
      { name: "listing", count: 2 },
      { name: "inspections", count: 0, depth: 3, dropped: 1 },
    ],
  },
  {
    kind: "pods",
    at: NOW,
    pods: [
      pod("web"),
      pod("crasher", {
        containers: [
          { name: "setup", kind: "init", state: "terminated", ready: false, restarts: 0 },
          { name: "main", kind: "main", state: "waiting", reason: "CrashLoopBackOff", ready: false, restarts: 4 },
        ],
        waits: [
          {
            ...{ what: "CrashLoopBackOff", container: "main", cause: "back-off" },
            next: { what: "next try", at: NOW + 11_200 },
          },
        ],
      }),
      pod("full", { state: "rejected", phase: "Failed", reason: "OutOfcpu", message: "Node didn't have enough" }),
      pod("evil\u001b[2J\nname"),
    ],
  },
  {
    ...{ kind: "node", at: NOW, problems: ["runtime is down"], pressures: ["MemoryPressure"] },
    usage: { cpuMillis: 500, cpuCapacityMillis: 2_000, memoryBytes: GIB, memoryCapacityBytes: 8 * GIB, diskBytes: GIB },
    signals: [{ name: "memory.available", available: "100 MiB", threshold: "200 MiB", isMet: true }],
    evictionOrder: ["demo/web"],
    devices: [{ resource: "example.com/gpu", used: 1, total: 2 }],
    garbage: { unusedImages: 3, unusedBytes: 1.5 * GIB, keptImages: 9, keptBytes: 4 * GIB, deadContainers: 2 },
    sources: [
      { name: "http\u001b[1m", isUp: false, restarts: 3 },
      { name: "file", isUp: true, restarts: 0 },
    ],
    calls: [
      { target: "runtime", name: "version", count: 3, failed: 1, meanMs: 1.25, maxMs: 5 },
      { target: "api", name: "GET", count: 1, failed: 0 },
    ],
  },
];
const MODEL = MESSAGES.reduce(advanceTop, EMPTY_MODEL);
const shown = (view: TopView, model: TopModel = MODEL, columns = 200): readonly string[] =>
  topLines(afterModel(beginTop(view, false), model), { columns, rows: 50 }, NOW);

describe("rxlet top", () => {
  it("shows each pod with what it waits for, counted down", () => {
    expect(shown("pods").map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "node one  1.36  [1 pods]  2 pipeline  3 marbles  4 node  q ends",
      "",
      "POD  READY  STATE  RESTARTS  WAITS FOR",
      "demo/web  1/1  Running  0",
      "demo/crasher  0/1  Running  4  CrashLoopBackOff main, next try in 12s: back-off",
      "demo/full  1/1  rejected  0  OutOfcpu: Node didn't have enough",
      "demo/evil?[2J?name  1/1  Running  0",
    ]);
  });

  it("shows the pipeline with its throughput and queues, and the sources of the node", () => {
    expect(shown("pipeline").slice(2)).toEqual([
      "! source http?[1m is down, 3 restarts",
      "READS     PART        WRITES",
      "registry  -> pleg ->  listing 2/s, inspections 3 waiting, 1 dropped",
      "",
      "SOURCE    STATE  RESTARTS",
      "http?[1m  down   3",
      "file      up     0",
    ]);
  });

  it("shows the node", () => {
    const lines = shown("node");
    expect(lines.slice(2)).toEqual([
      "! runtime is down",
      "CPU       [#####...............] 0.50 of 2.00 cores",
      "memory    [###.................] 1.00 of 8.00 GiB",
      "disk      1.00 GiB",
      "pressure  MemoryPressure",
      "",
      "SIGNAL            AVAILABLE  THRESHOLD",
      "memory.available  100 MiB    200 MiB    met",
      "evicted first: demo/web",
      "garbage: 3 unused images, at most 1.50 GiB; 2 dead containers; kept: 9 images, 4.00 GiB",
      "example.com/gpu  1 of 2 in use",
      "",
      "CALL             COUNT  FAILED  MEAN MS  MAX MS",
      "runtime version  3      1       1.3      5.0",
      "api GET          1      0",
    ]);
  });

  it("has a lane per pod with a letter per value, the present at the right", () => {
    const marble = (id: number, place: string, ago: number, uid?: string): LiveMarble => ({
      ...{ id, place, at: NOW - ago, text: "" },
      ...(uid === undefined ? {} : { pod: uid }),
    });
    const marbles = [
      marble(1, "registry", 2_600, "web"),
      marble(2, "podStatuses", 1_100, "web"),
      marble(3, "timelines", 100, "web"),
      marble(4, "inspections", 90, "web"),
      marble(5, "images", 0),
      marble(6, "registry", 3_600_000, "crasher"),
    ];
    const model = advanceTop({ ...MODEL, pods: undefined }, { kind: "marbles", marbles, dropped: 0 });
    const pods: LiveMessage = { kind: "pods", at: NOW, pods: [pod("crasher"), pod("web")] };
    expect(shown("marbles", advanceTop(model, pods), 24).slice(2, 6)).toEqual([
      "the last 5s, the presen\u2026",
      "node          ---------*",
      "demo/web      ----r--s-#",
      "demo/crasher  ----------",
    ]);
  });

  it("is cut to the screen, and counts what is left out", () => {
    const lines = topLines(afterModel(beginTop("pods", false), MODEL), { columns: 30, rows: 5 }, NOW);
    expect(lines.map(({ length }) => length <= 30)).toEqual([true, true, true, true]);
    expect(lines.at(-1)).toBe("... 4 more");
  });

  it("says that nothing is known yet, and why nothing new comes", () => {
    expect(shown("pods", { ...EMPTY_MODEL, problem: "the connection broke off" })).toEqual([
      "no node yet   [1 pods]  2 pipeline   3 marbles   4 node    q ends",
      "! the connection broke off",
      "",
      "No pods.",
    ]);
    expect(shown("node", EMPTY_MODEL).at(-1)).toBe("Nothing measured yet.");
  });

  it("keeps a bounded number of marbles, and forgets them with the connection", () => {
    const many = Array.from({ length: MAX_MARBLES + 1 }, (_, id) => ({ id, place: "images", at: 0, text: "" }));
    const full = advanceTop(EMPTY_MODEL, { kind: "marbles", marbles: many, dropped: 0 });
    expect([full.marbles.length, full.marbles[0]?.id]).toEqual([MAX_MARBLES, 1]);
    expect(MESSAGES.reduce(advanceTop, full).marbles).toEqual([]);
  });
});
