import { describe, expect, it } from "vitest";
import { createSimProgress } from "../../src/commands/simProgress.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { screenAfter } from "../support/virtualTerminal.ts";

const HOUR_MS = 3_600_000;

/** A display, and what it wrote after so many virtual milliseconds per 50 ms of real time. */
function display(screen: { readonly isTTY?: boolean; readonly columns?: number }) {
  const scheduler = createHeapScheduler();
  const chunks: string[] = [];
  const write = (text: string) => void chunks.push(text);
  const progress = createSimProgress({ ...screen, write }, createSimClock(scheduler), "42");
  return {
    chunks,
    progress,
    show(virtualMs: number, realMs: number) {
      scheduler.advanceTo(realMs);
      progress.show({ virtualMs, durationMs: 2 * HOUR_MS, events: virtualMs / 1_000, faults: 3 });
    },
  };
}

describe("createSimProgress", () => {
  it("redraws one line on a terminal: bar, seed, part, events, faults and ratio", () => {
    const { chunks, progress, show } = display({ isTTY: true, columns: 120 });
    show(HOUR_MS, 1_000);
    expect(screenAfter(...chunks)).toEqual([
      `[${"=".repeat(15)}${" ".repeat(15)}] seed 42 50%, 3600 events, 3 faults, 3600 times real time`,
    ]);
    show(3 * HOUR_MS, 2_000);
    expect(screenAfter(...chunks)).toEqual([
      `[${"=".repeat(30)}] seed 42 healing, 10800 events, 3 faults, 5400 times real time`,
    ]);
    progress.end();
    expect(screenAfter(...chunks)).toEqual([]);
  });

  it("draws at most ten times a second, and no wider than the terminal", () => {
    const { chunks, show } = display({ isTTY: true, columns: 40 });
    for (let realMs = 0; realMs < 1_000; realMs += 10) show(realMs * 1_000, realMs);
    expect(chunks).toHaveLength(10);
    expect(screenAfter(...chunks)[0]).toHaveLength(39);
  });

  it("writes a line per tenth to a pipe, none of them while healing, and nothing at the end", () => {
    const { chunks, progress, show } = display({});
    for (let part = 0; part <= 150; part += 1) show((part / 100) * 2 * HOUR_MS, 100 * (part + 1));
    progress.end();
    expect(chunks.map((line) => line.split(",")[0])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `seed 42 ${n}0%`));
    expect(chunks[4]).toBe("seed 42 50%, 3600 events, 3 faults, 706 times real time\n");
  });
});
