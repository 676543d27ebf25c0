import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { formatInstantMs } from "../../../../src/core/time/civilTime.ts";
import type { EntryView, WaitView } from "../../../../src/core/timeline/timelineView.ts";
import { fittingSpan, podBars } from "../../../../src/livePage/model/podBars.ts";

const NOW = 1_700_000_000_000;
const at = (ms: number): string => formatInstantMs(epochMs(NOW + ms));
const entry = (ms: number, what: string, more: Partial<EntryView> = {}): EntryView => ({ at: at(ms), what, ...more });
const app = { container: "app" };

/** Shows bars as `container/row kind label from-to`, relative to now, with `+` for a bar that goes on. */
function barsOf(entries: readonly EntryView[], waits: readonly WaitView[] = [], spanMs = 60_000): readonly string[] {
  return podBars({ entries, waits }, NOW, spanMs).groups.flatMap(({ container, bars }) =>
    bars.map(({ row, kind, label, from, to, isOpen, dueAt, outcome }) => {
      const due = dueAt === undefined ? "" : ` due ${dueAt - NOW}`;
      const end = `${from - NOW}-${to - NOW}${isOpen ? "+" : ""}`;
      return `${container}/${row} ${kind} ${label} ${end}${due}${outcome === undefined ? "" : ` ${outcome}`}`;
    }),
  );
}

describe("podBars", () => {
  it("shows steps by their kind, and instants as marks", () => {
    const entries = [
      entry(-9_000, "Accepted"),
      entry(-8_000, "RunPodSandbox", { seconds: 0.5 }),
      entry(-7_000, "ImagePull", { ...app, seconds: 2 }),
      entry(-5_000, "PostStartHook", { ...app, seconds: 1, outcome: "failed" }),
      entry(-4_000, "StartupProbe", { ...app, seconds: 1 }),
      entry(-3_000, "StopContainer", { ...app, seconds: 1 }),
    ];
    expect(barsOf(entries)).toEqual([
      "/0 mark Accepted -9000--9000",
      "/0 call RunPodSandbox -8000--7500",
      "app/0 pull ImagePull -7000--5000",
      "app/0 hook PostStartHook -5000--4000 failed",
      "app/0 probe StartupProbe -4000--3000",
      "app/0 call StopContainer -3000--2000",
    ]);
  });
  it("shows runs from start to exit, with the waits between", () => {
    const entries = [
      entry(-50_000, "Running", app),
      entry(-40_000, "Exited", { ...app, seconds: 10, outcome: "failed" }),
      entry(-20_000, "Running", app),
      entry(-15_000, "Exited", app),
      entry(-14_800, "Running", app),
    ];
    expect(barsOf(entries)).toEqual([
      "app/0 run ran -50000--40000 failed",
      "app/0 backoff waited -40000--20000",
      "app/0 run ran -20000--15000",
      "app/0 run running -14800-0+",
    ]);
  });
  it("knows the length of a run whose start was dropped", () => {
    expect(barsOf([entry(-5_000, "Exited", { ...app, seconds: 4 })])).toEqual(["app/0 run ran -9000--5000"]);
  });
  it("shows waits up to now, with their timers", () => {
    const next = { what: "next try", at: at(8_000), inSeconds: 8 };
    expect(barsOf([], [{ what: "CrashLoopBackOff", container: "app", seconds: 2, next }, { what: "Volume" }])).toEqual([
      "/0 wait Volume 0-0+",
      "app/0 backoff CrashLoopBackOff -2000-0+ due 8000",
    ]);
  });
  it("shows repeated entries up to their last", () => {
    expect(barsOf([entry(-9_000, "Unhealthy", { ...app, count: 4, lastAt: at(-1_000), outcome: "warning" })])).toEqual([
      "app/0 call Unhealthy (4 times) -9000--1000 warning",
    ]);
  });
  it("gives bars at one time rows of their own, up to a bound", () => {
    const same = Array.from({ length: 9 }, () => entry(-9_000, "CreateContainer", { ...app, seconds: 5 }));
    const rows = podBars({ entries: same, waits: [] }, NOW, 60_000).groups[0];
    expect(rows?.rows).toBe(5);
    expect(rows?.bars.map(({ row }) => row)).toEqual([0, 1, 2, 3, 4, 4, 4, 4, 4]);
  });
  it("leaves out what is older than the span, and does not let a far timer squeeze the rest", () => {
    const next = { what: "next try", at: at(3_600_000), inSeconds: 3_600 };
    const bars = podBars({ entries: [entry(-70_000, "Accepted")], waits: [{ what: "Retry", next }] }, NOW, 60_000);
    expect(bars.groups.flatMap((group) => group.bars.map(({ label }) => label))).toEqual(["Retry"]);
    expect(bars.to - NOW).toBe(32_400);
  });
  it("skips entries without a valid instant", () => {
    expect(
      barsOf([
        { at: "soon", what: "Accepted" },
        { at: "", what: "Running", container: "app" },
      ]),
    ).toEqual([]);
  });
});

describe("fittingSpan", () => {
  it.each([
    [-1_000, 120_000],
    [-500_000, 600_000],
    [-90_000_000, 86_400_000],
  ])("has an entry %d ms from now within %d ms", (ms, span) => {
    expect(fittingSpan({ entries: [entry(ms, "Accepted")] }, NOW)).toBe(span);
  });
  it("takes the latest entries only", () => {
    const entries = [entry(-80_000_000, "Accepted"), ...Array.from({ length: 24 }, () => entry(-1_000, "Probe"))];
    expect(fittingSpan({ entries }, NOW)).toBe(120_000);
    expect(fittingSpan({ entries: [] }, NOW)).toBe(120_000);
  });
});
