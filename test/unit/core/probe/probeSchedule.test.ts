import { describe, expect, it } from "vitest";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { nextOnGrid, probeGrid, probePhaseMs } from "../../../../src/core/probe/probeSchedule.ts";

const TARGET = { podUid: "uid-1", containerName: "main" };

describe("probePhaseMs", () => {
  it("is deterministic, below the period, and different for each probe of a container", () => {
    const phases = (["startup", "liveness", "readiness"] as const).map((kind) => probePhaseMs(TARGET, kind, 10_000));
    expect(phases).toEqual([5_320, 1_419, 7_075]);
  });

  it("spreads a hundred pods that started together: no more than a few in any twentieth of the period", () => {
    const counts = new Array<number>(20).fill(0);
    for (let pod = 0; pod < 100; pod += 1) {
      const phase = probePhaseMs({ podUid: `3f2a-${pod}`, containerName: "web" }, "readiness", 1_000);
      const slot = Math.floor(phase / 50);
      counts[slot] = (counts[slot] ?? 0) + 1;
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(13);
    expect(counts.filter((count) => count > 0).length).toBeGreaterThanOrEqual(17);
  });
});

describe("probeGrid", () => {
  it("opens after the initial delay and starts a phase later", () => {
    const phase = probePhaseMs(TARGET, "liveness", 5_000);
    expect(probeGrid(TARGET, "liveness", { initialDelaySeconds: 3, periodSeconds: 5 }, monotonicMs(1_000))).toEqual({
      openAt: 4_000,
      firstAt: 4_000 + phase,
      periodMs: 5_000,
    });
  });

  it("defaults to a period of ten seconds, with a minimum of one", () => {
    const periodOf = (periodSeconds: number | undefined): number =>
      probeGrid(TARGET, "liveness", periodSeconds === undefined ? {} : { periodSeconds }, monotonicMs(0)).periodMs;
    expect([periodOf(undefined), periodOf(0), periodOf(7)]).toEqual([10_000, 1_000, 7_000]);
  });
});

describe("nextOnGrid", () => {
  const grid = { openAt: monotonicMs(1_000), firstAt: monotonicMs(1_400), periodMs: 2_000 };

  it.each([
    [0, 1_400],
    [1_399, 1_400],
    [1_400, 3_400],
    [3_399, 3_400],
    [3_400, 5_400],
    [98_000, 99_400],
  ])("at %d ms is %d ms", (now, expected) => {
    expect(nextOnGrid(grid, monotonicMs(now))).toBe(expected);
  });
});
