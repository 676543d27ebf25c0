import { describe, expect, it } from "vitest";
import {
  amountOf,
  type EvictionSettings,
  evictionThresholds,
  shareOf,
} from "../../../../src/core/eviction/thresholds.ts";

const settings = (more: Partial<EvictionSettings>): EvictionSettings => ({
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
  enforceNodeAllocatable: ["pods"],
  ...more,
});
const MI = 2 ** 20;

describe("evictionThresholds", () => {
  it("returns hard thresholds, soft ones with their grace period, and that of the memory of all pods", () => {
    const found = evictionThresholds(
      settings({
        evictionHard: { "memory.available": "100Mi", "nodefs.inodesFree": "5%" },
        evictionSoft: { "memory.available": "0.5Gi" },
        evictionSoftGracePeriod: { "memory.available": "1m30s" },
        evictionMinimumReclaim: { "memory.available": "50Mi", "pid.available": "1" },
      }),
    );
    const reclaim = { units: 50 * MI, format: "BinarySI" };
    expect(found).toEqual([
      { signal: "memory.available", least: { units: 100 * MI, format: "BinarySI" }, graceMs: 0, reclaim },
      { signal: "nodefs.inodesFree", least: { share: Math.fround(0.05) }, graceMs: 0, reclaim: undefined },
      { signal: "memory.available", least: { units: 512 * MI, format: "BinarySI" }, graceMs: 90_000, reclaim },
      { signal: "allocatableMemory.available", least: { units: 100 * MI, format: "BinarySI" }, graceMs: 0, reclaim },
      { signal: "containerfs.inodesFree", least: { share: Math.fround(0.05) }, graceMs: 0, reclaim: undefined },
    ]);
  });

  it("gives the file system of containers the thresholds of the node's, hard and soft, whatever is set for it", () => {
    const found = evictionThresholds(
      settings({
        evictionHard: { "containerfs.available": "1%", "nodefs.available": "10%", "imagefs.available": "15%" },
        evictionSoft: { "nodefs.inodesFree": "7" },
        evictionSoftGracePeriod: { "nodefs.inodesFree": "1m" },
        evictionMinimumReclaim: { "nodefs.available": "3", "containerfs.available": "4" },
      }),
    );
    const format = "DecimalSI";
    expect(found.filter(({ signal }) => signal.startsWith("containerfs."))).toEqual([
      { signal: "containerfs.available", least: { share: shareOf("10%") }, graceMs: 0, reclaim: { units: 3, format } },
      { signal: "containerfs.inodesFree", least: { units: 7, format }, graceMs: 60_000, reclaim: undefined },
    ]);
  });

  it.each<[string, Partial<EvictionSettings>]>([
    ["0% and 100%", { evictionHard: { "memory.available": "0%", "nodefs.available": "100%" } }],
    ["thresholds of containerfs, which upstream replaces", { evictionHard: { "containerfs.available": "5%" } }],
    ["that of all pods where their allocatable is not enforced", { enforceNodeAllocatable: ["none"] }],
    ["that of all pods for a soft one", {}],
  ])("ignores %s", (_, more) => {
    const evictionSoft = { "memory.available": "1Mi" };
    const signals = evictionThresholds(settings({ evictionSoft, ...more })).map(({ signal }) => signal);
    expect(signals).toEqual(["memory.available"]);
  });
});

describe("an amount", () => {
  it.each([
    ["units as they are", { units: 5 }, 1_000, 5],
    ["a share of what there is, cut to whole units", { share: shareOf("10%") }, 1_005, 100],
    ["a share to the byte of 32-bit floats", { share: shareOf("15%") }, 270_553_174_016, 40_582_977_715],
  ])("is %s", (_, amount, capacity, units) => {
    expect(amountOf(amount, capacity)).toBe(units);
  });
});
