import { describe, expect, it } from "vitest";
import {
  delayOf,
  type DelayReason,
  isSpaceAwaited,
  mayMisrank,
  nextDelayedLook,
  startDelay,
} from "../../../../src/core/eviction/evictionDelay.ts";
import type { PodRank } from "../../../../src/core/eviction/ranking.ts";
import type { Signal } from "../../../../src/core/eviction/thresholds.ts";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import type { FsStats, Summary } from "../../../../src/core/stats/summary.ts";
import { below } from "../../../support/evictionNode.ts";

const DISK = below("nodefs.available", 100);
const ONE_DISK = { hasImageFs: false, isSplit: false };
const CROSSED = epochMs(1_000_000);

const rankOf = (usage: number, more: Partial<PodRank> = {}): PodRank => ({
  uid: podUid("a"),
  namespace: "demo",
  name: "a",
  isMeasured: true,
  priority: 0,
  usage,
  request: 0,
  isCritical: false,
  ...more,
});

const summaryWith = (...layers: readonly (FsStats | undefined)[]): Summary => ({
  node: { nodeName: "node", startTime: CROSSED },
  pods: layers.map((rootfs, index) => ({
    podRef: { name: `${index}`, namespace: "demo", uid: `${index}` },
    startTime: CROSSED,
    containers: [{ name: "main", startTime: CROSSED, ...(rootfs && { rootfs }) }],
  })),
});

const measuredAt = (ms: number): FsStats => ({ time: epochMs(ms), usedBytes: 1 });

describe("a choice by the writable layers of containers", () => {
  const judge = (
    available: number,
    {
      signal = "nodefs.available",
      layout = ONE_DISK,
      ranking = [rankOf(1)],
      summary = summaryWith(measuredAt(0)),
    }: {
      readonly signal?: Signal;
      readonly layout?: typeof ONE_DISK;
      readonly ranking?: readonly PodRank[];
      readonly summary?: Summary;
    } = {},
  ): boolean => {
    const threshold = below(signal, 100);
    const observations = new Map([[signal, { available, capacity: 1_000, at: monotonicMs(0) }]]);
    return mayMisrank(threshold, observations, { ranking, summary, layout }, CROSSED);
  };

  it("may be wrong while a layer was last measured before the threshold was crossed", () => {
    expect(judge(98)).toBe(true);
  });

  it.each([
    ["the end of the first pod relieves the threshold", 99, {}],
    ["the critical pod before it is none to end", 90, { ranking: [rankOf(1, { isCritical: true }), rankOf(10)] }],
    ["no pod may be evicted", 90, { ranking: [rankOf(1, { isCritical: true })] }],
    ["all layers were measured since", 90, { summary: summaryWith(measuredAt(1_000_000), measuredAt(1_000_001)) }],
    ["the runtime measures no layers", 90, { summary: summaryWith(undefined) }],
    ["memory is short", 90, { signal: "memory.available" as const }],
    ["layers are on another disk", 90, { layout: { hasImageFs: true, isSplit: false } }],
  ])("is sound when %s", (_, available, more) => {
    expect(judge(available, more)).toBe(false);
  });

  it("may be wrong by one layer of many", () => {
    expect(judge(90, { summary: summaryWith(measuredAt(1_000_000), undefined, measuredAt(999_999)) })).toBe(true);
  });
});

describe("a delay of an eviction", () => {
  const start = (reason: DelayReason) => startDelay(DISK, reason, ["images"], monotonicMs(1_000));

  it.each([
    ["space", 4_000, 500],
    ["layers", 16_000, 1_000],
  ] as const)("for %s ends at %d, with a look every %d ms", (reason, until, every) => {
    const delay = start(reason);
    expect([delay.until, nextDelayedLook(delay)]).toEqual([until, every]);
  });

  it.each([
    [3_999, true],
    [4_000, false],
  ])("for space lasts at %d: %s", (now, lasts) => {
    expect(isSpaceAwaited(start("space"), DISK, monotonicMs(now))).toBe(lasts);
  });

  it("for layers awaits no space", () => {
    expect(isSpaceAwaited(start("layers"), DISK, monotonicMs(1_000))).toBe(false);
  });

  it("concerns its threshold alone", () => {
    const other = below("nodefs.available", 100);
    expect([
      isSpaceAwaited(start("space"), other, monotonicMs(1_000)),
      delayOf(start("space"), other, monotonicMs(1_000)),
    ]).toEqual([false, undefined]);
  });

  it.each([
    [23_999, true],
    [24_000, false],
  ])("is remembered at %d, 20 s after its end at most: %s", (now, isRemembered) => {
    expect(delayOf(start("space"), DISK, monotonicMs(now)) !== undefined).toBe(isRemembered);
  });
});
