/** When figures with thresholds are measured again. */
import { describe, expect, it } from "vitest";
import type { Observation } from "../../../../src/core/eviction/observations.ts";
import { FAR_MS, pacedLook, type Paces, steepestFallPerMs } from "../../../../src/core/eviction/pacing.ts";
import type { Signal, Threshold } from "../../../../src/core/eviction/thresholds.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { createPrng } from "../../../../src/sim/prng.ts";

const GIB = 1024 ** 3;
const below = (signal: Signal, units: number): Threshold => ({
  signal,
  least: { units },
  graceMs: 0,
  reclaim: undefined,
});
const MEMORY = below("memory.available", GIB);
const SOFT = below("memory.available", 2 * GIB);
const DISK = below("nodefs.available", 100);
const INODES = below("nodefs.inodesFree", 100);
const PIDS = below("pid.available", 1_000);
const NONE: Paces = new Map();

const look = (before: Paces, threshold: readonly Threshold[], available: number, atMs: number, cpuCount = 2) => {
  const observation: Observation = { available, capacity: 1e15, at: monotonicMs(atMs) };
  const signal = threshold[0]?.signal ?? "pid.available";
  const at = { now: monotonicMs(atMs), cpuCount };
  return pacedLook(before, threshold, new Map([[signal, observation]]), at);
};
/** The next look after the available amount fell by `fall` within a second. */
const falling = (threshold: Threshold, fall: number, available: number): number => {
  const { paces } = look(NONE, [threshold], available + fall, 0);
  return look(paces, [threshold], available, 1_000).nextInMs;
};

describe("the next look at a figure", () => {
  it.each([
    ["memory that two CPUs need 10 s to use up, and more", [MEMORY], 1_000 * GIB, 10_000],
    ["memory that they could use up in 2 s", [MEMORY], 17 * GIB, 2_900],
    ["memory close to its threshold", [MEMORY], GIB, 900],
    ["memory between a soft and a hard threshold", [MEMORY, SOFT], 1.5 * GIB, 900],
    ["memory below its threshold", [MEMORY], GIB - 1, 1_000],
    ["a disk with much space", [DISK], 100 * GIB, 10_000],
    ["a disk that writers could fill in 5 s", [DISK], 40 * GIB + 100, 5_900],
    ["a disk close to its threshold", [DISK], 1_000, 900],
    ["a disk of images that writers could fill in 2 s", [below("imagefs.available", 0)], 16 * GIB, 2_900],
    ["a disk of layers that writers could fill in 2 s", [below("containerfs.available", 0)], 16 * GIB, 2_900],
    ["a disk with many inodes", [INODES], 6_000_000, 10_000],
    ["inodes that writers could use up in 2 s", [INODES], 1_000_100, 2_900],
    ["inodes of images that writers could use up in 2 s", [below("imagefs.inodesFree", 0)], 1_000_000, 2_900],
    ["inodes of layers that writers could use up in 2 s", [below("containerfs.inodesFree", 0)], 1_000_000, 2_900],
    ["process IDs that two CPUs can use up at once", [PIDS], 32_000, 1_000],
    ["process IDs by the million", [PIDS], 4_000_000, 10_000],
  ] as const)("%s", (_, thresholds, available, expected) => {
    expect(look(NONE, thresholds, available, 0).nextInMs).toBe(expected);
  });

  it.each([
    ["does not come earlier for a fall that needs long", 10, 900],
    ["comes after half the time that the fall needs", 1_500, 300],
    ["comes after 200 ms when the fall is about to cross", 100_000, 200],
  ])("%s", (_, fall, expected) => {
    expect(falling(DISK, fall, 1_000)).toBe(expected);
  });

  it("remembers a fall that paused, for some looks", () => {
    let paces = look(look(NONE, [DISK], 101_000, 0).paces, [DISK], 1_000, 1_000).paces;
    const next: number[] = [];
    for (let at = 2_000; at < 12_000; at += 1_000) {
      const found = look(paces, [DISK], 1_000, at);
      paces = found.paces;
      next.push(found.nextInMs);
    }
    expect(next).toEqual([200, 200, 200, 200, 200, 200, 500, 900, 900, 900]);
  });

  it("lies on a grid of 100 ms, which all figures share, and never less than 100 ms ahead", () => {
    expect([0, 1, 99, 150].map((at) => at + look(NONE, [DISK], 1_000, at).nextInMs)).toEqual([900, 900, 900, 1_000]);
  });

  it("is 10 s away for a figure that could not be measured, or that has no threshold", () => {
    const { paces } = look(NONE, [DISK], 1_000, 0);
    const at = { now: monotonicMs(500), cpuCount: 2 };
    expect(pacedLook(paces, [DISK], new Map(), at)).toEqual({ paces, crossed: [], nextInMs: 10_000 });
    expect(look(NONE, [], 1, 0)).toEqual({ paces: NONE, crossed: [], nextInMs: 10_000 });
  });
});

describe("a fall no steeper than the steepest plausible one", () => {
  const SIGNALS: readonly Signal[] = [
    "memory.available",
    "allocatableMemory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "containerfs.available",
    "containerfs.inodesFree",
    "pid.available",
  ];

  it.each(SIGNALS)("of %s crosses a threshold at most 1 s before the look that finds it", (signal) => {
    const prng = createPrng(signal);
    const least = 1_000_000;
    const threshold = below(signal, least);
    let found = 0;
    for (let round = 0; round < 300; round += 1) {
      const cpuCount = prng.int(1, 64);
      const steepest = steepestFallPerMs(signal, cpuCount);
      // At most 20 s of the steepest fall: a rest or a slow fall, then the steepest one from a random time on.
      let available = least + steepest * prng.int(0, 20_000);
      let now = prng.int(0, 1_000);
      let paces = NONE;
      for (let looks = 0; looks < 200; looks += 1) {
        const paced = look(paces, [threshold], available, now, cpuCount);
        paces = paced.paces;
        if (paced.crossed.length > 0) {
          found += 1;
          break;
        }
        const slowMs = prng.int(0, paced.nextInMs);
        const slowFall = prng.chance(0.5) ? 0 : (steepest * prng.int(0, 10)) / 10;
        const before = available;
        available -= slowFall * slowMs + steepest * (paced.nextInMs - slowMs);
        now += paced.nextInMs;
        // The threshold was met at the earliest so long ago, even if the whole fall had come first.
        const unseenMs = paced.nextInMs - (before - least) / steepest;
        expect(unseenMs).toBeLessThanOrEqual(1_000);
        expect(paced.nextInMs).toBeLessThanOrEqual(FAR_MS);
      }
    }
    expect(found).toBe(300);
  });
});

describe("a crossing", () => {
  it("is reported by the first look that meets a threshold, and again after the threshold was unmet", () => {
    const amounts = [3, 1.9, 1.8, 0.9, 0.8, 1.9, 0.7];
    let paces = NONE;
    const crossed = amounts.map((gib, second) => {
      const found = look(paces, [MEMORY, SOFT], gib * GIB, second * 1_000);
      paces = found.paces;
      return found.crossed.length;
    });
    expect(crossed).toEqual([0, 1, 0, 1, 0, 0, 1]);
  });
});
