import { describe, expect, it } from "vitest";
import { pressureText } from "../../../../src/core/eviction/pressureText.ts";
import type { PressureView, SignalView } from "../../../../src/core/eviction/pressureView.ts";

const EMPTY: PressureView = { at: "12:00", conditions: [], signals: [], eviction: { pods: [], more: 0 } };
const lines = (view: Partial<PressureView>): readonly string[] => pressureText({ ...EMPTY, ...view }).split("\n");
/** The lines from one that starts like this. */
const from = (view: Partial<PressureView>, start: string): readonly string[] => {
  const all = lines(view);
  return all.slice(all.findIndex((line) => line.startsWith(start)));
};
const GI = 1024 ** 3;

describe("signals", () => {
  const signals: readonly SignalView[] = [
    {
      signal: "memory.available",
      unit: "bytes",
      measured: { available: 2 * GI, capacity: 8 * GI, secondsAgo: 15 },
      changePerMinute: 1024 ** 2,
      thresholds: [
        { kind: "hard", amount: GI, distance: GI },
        { kind: "soft", amount: 3 * GI, distance: -GI, metSeconds: 61, graceSeconds: 90 },
      ],
    },
    { signal: "pid.available", unit: "pids", thresholds: [{ kind: "hard" }] },
    {
      signal: "nodefs.inodesFree",
      unit: "inodes",
      measured: { available: 5, capacity: 9, secondsAgo: 16 },
      changePerMinute: -3,
      thresholds: [{ kind: "hard", amount: 7, distance: -2, metSeconds: 5 }],
    },
    {
      signal: "imagefs.available",
      unit: "bytes",
      measured: { available: 0, capacity: 0, secondsAgo: 0 },
      changePerMinute: 0,
      thresholds: [{ kind: "hard", amount: 0, distance: 0 }],
    },
  ];
  it("are a table with notes, of at most 80 columns", () => {
    const text = lines({ conditions: ["MemoryPressure", "PIDPressure"], signals });
    expect(text.slice(0, 13)).toEqual([
      "MemoryPressure, PIDPressure, at 12:00",
      "",
      "SIGNAL                        AVAILABLE       THRESHOLD   DISTANCE PER MINUTE",
      "memory.available                    2Gi        hard 1Gi        1Gi       +1Mi",
      "                                               soft 3Gi       -1Gi",
      "  soft threshold met for 61s, grace period 90s",
      "pid.available                         -          hard -          -          -",
      "  not measured",
      "nodefs.inodesFree                     5          hard 7         -2         -3",
      "  measured 16s ago",
      "  hard threshold met for 5s",
      "imagefs.available                     0          hard 0          0          0",
      "",
    ]);
    expect(Math.max(...text.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("may have no threshold", () => {
    expect(lines({}).slice(0, 4)).toEqual(["No pressure, at 12:00", "", "No eviction threshold is set.", ""]);
  });
});

describe("resources that are removed first", () => {
  it("are unknown without a list", () => {
    expect(from({}, "Removed").slice(0, 2)).toEqual([
      "Removed first when a disk is short",
      "  unknown: the runtime lists no containers or images",
    ]);
  });

  it("are counted, the first by name, with the reasons of those that stay", () => {
    const reason = (length: number) => "r".repeat(length);
    const images = {
      unused: {
        count: 3,
        bytes: 2 * GI,
        first: [
          { name: "a:1", bytes: GI },
          { name: `${"x".repeat(30)}/${"y".repeat(30)}`, bytes: 5 },
        ],
      },
      kept: {
        count: 2,
        bytes: GI,
        first: [
          { name: "b:1", bytes: GI, reason: reason(23) },
          { name: "c:1", bytes: 1, reason: reason(24) },
          { name: "d:1", bytes: 1, reason: reason(75) },
        ],
      },
    };
    const all = from({ reclaim: { deadContainers: 1, images } }, "Removed");
    expect(all.slice(0, 14)).toEqual([
      "Removed first when a disk is short",
      "  1 exited container",
      "  3 unused images, up to 2Gi",
      `    ${"a:1".padEnd(44)}    1Gi`,
      `    ${`${"x".repeat(21)}…${"y".repeat(22)}`}      5`,
      "    and 1 more",
      "",
      "Kept: 2 images, up to 1Gi",
      `    ${"b:1".padEnd(44)}    1Gi  ${reason(23)}`,
      `    ${"c:1".padEnd(44)}      1`,
      `      ${reason(24)}`,
      `    ${"d:1".padEnd(44)}      1`,
      `      ${reason(36)}…${reason(37)}`,
      "",
    ]);
    expect(all[8]).toHaveLength(80);
    expect(all[12]).toHaveLength(80);
  });

  it("may be none", () => {
    const none = { count: 0, bytes: 0, first: [] };
    expect(
      from({ reclaim: { deadContainers: 0, images: { unused: none, kept: none } } }, "Removed").slice(0, 5),
    ).toEqual([
      "Removed first when a disk is short",
      "  no exited containers",
      "  no unused images",
      "",
      "Kept: no images",
    ]);
  });
});

describe("pods that are evicted first", () => {
  const pod = (name: string, reason: string) => ({ namespace: "n", name, reason });
  const order = (...pods: readonly ReturnType<typeof pod>[]) =>
    from({ eviction: { signal: "memory.available", pods, more: 0 } }, "Evicted first");

  it("are numbered, with the reason behind or below the name", () => {
    const fits = "r".repeat(80 - "  1  n/a  ".length);
    expect(order(pod("a", fits), pod("a", `${fits}r`), pod("a", "r".repeat(90)))).toEqual([
      "Evicted first for memory.available",
      `  1  n/a  ${fits}`,
      "  2  n/a",
      `       ${fits}r`,
      "  3  n/a",
      `       ${"r".repeat(36)}…${"r".repeat(36)}`,
      "",
    ]);
  });

  it("have numbers of one width, and names that are cut to the line", () => {
    const text = order(...Array.from({ length: 10 }, (_, index) => pod(`p${index}`, "why")));
    expect([text[1], text[10]]).toEqual(["   1  n/p0  why", "  10  n/p9  why"]);
    const cut = order(pod("x".repeat(100), "why"));
    expect(cut[1]).toBe(`  1  n/${"x".repeat(35)}…${"x".repeat(37)}`);
    expect(cut[1]).toHaveLength(80);
    expect(cut[2]).toBe("       why");
  });

  it.each([
    ["no pods", { pods: [], more: 0 }, ["Evicted first", "  no pods", ""]],
    ["more pods", { pods: [pod("a", "")], more: 2 }, ["Evicted first", "  1  n/a  ", "    and 2 more", ""]],
    [
      "a problem",
      { pods: [], more: 0, problem: "x".repeat(80) },
      ["Evicted first", `  ${"x".repeat(38)}…${"x".repeat(39)}`, ""],
    ],
    [
      "a problem that fits",
      { pods: [], more: 0, problem: "x".repeat(78) },
      ["Evicted first", `  ${"x".repeat(78)}`, ""],
    ],
  ])("may be %s", (_, eviction, expected) => {
    expect(from({ eviction }, "Evicted first")).toEqual(expected);
  });
});

describe("the last decision", () => {
  const decision = { at: "11:59", signal: "memory.available", reclaimed: [], evicted: [], more: 0 };
  it.each([
    ["that changed nothing", decision, ["  memory.available", "  nothing was removed or evicted"]],
    [
      "with figures",
      { ...decision, available: "1Gi", threshold: "2Gi", reclaimed: ["images"] },
      ["  memory.available was 1Gi, less than 2Gi", "  removed unused images"],
    ],
    [
      "with half of the figures",
      { ...decision, available: "1Gi", reclaimed: ["x"] },
      ["  memory.available", "  removed unused x"],
    ],
    [
      "with pods, names and messages cut to the line",
      {
        ...decision,
        signal: "s".repeat(90),
        evicted: [{ namespace: "n", name: "x".repeat(90), message: "m".repeat(90) }],
        more: 3,
      },
      [
        `  ${"s".repeat(38)}…${"s".repeat(39)}`,
        `  evicted n/${"x".repeat(32)}…${"x".repeat(35)}`,
        `    ${"m".repeat(37)}…${"m".repeat(38)}`,
        "    and 3 more",
      ],
    ],
  ])("%s is the last part", (_, lastDecision, expected) => {
    expect(from({ lastDecision }, "Last action")).toEqual(["Last action at 11:59", ...expected, ""]);
  });
});
