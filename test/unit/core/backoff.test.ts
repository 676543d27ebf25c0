import { describe, expect, it } from "vitest";
import {
  backoffUntil,
  containerBackoffKey,
  crashLoopPolicy,
  DEFAULT_CRASH_LOOP_POLICY,
  NO_BACKOFFS,
  type BackoffPolicy,
  type ContainerBackoffs,
  nextBackoff,
  nextDelay,
  registerFailure,
  registerRestart,
  retryAt,
  syncErrorDelayMs,
} from "../../../src/core/backoff.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { monotonicMs } from "../../../src/core/ids.ts";
import { mono } from "./samples.ts";

const KEY = containerBackoffKey("web", "abc");

/** Waits in seconds of a container that runs `ranForS` and crashes, over and over. */
function crashLoop(policy: BackoffPolicy, ranForS: number, crashes: number): readonly number[] {
  let backoffs = NO_BACKOFFS;
  let now = mono(0);
  const waits: number[] = [];
  for (let crash = 0; crash < crashes; crash += 1) {
    const exitedAt = monotonicMs(now + ranForS * 1000);
    now = backoffUntil(backoffs, KEY, exitedAt, policy) ?? exitedAt;
    waits.push((now - exitedAt) / 1000);
    backoffs = registerRestart(backoffs, KEY, exitedAt, now, policy);
  }
  return waits;
}

describe("the crash-loop curve", () => {
  it("restarts at once first, then waits 10 s doubling to 300 s", () => {
    expect(crashLoop(DEFAULT_CRASH_LOOP_POLICY, 1, 9)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });
  it("follows a configured maximum", () => {
    expect(crashLoop(crashLoopPolicy(60_000), 1, 6)).toEqual([0, 10, 20, 40, 60, 60]);
  });
  it("starts at the maximum when that is below 10 s", () => {
    expect(crashLoop(crashLoopPolicy(2_000), 1, 4)).toEqual([0, 2, 2, 2]);
  });
  it("starts at 1 s and ends at 60 s under ReduceDefaultCrashLoopBackOffDecay", () => {
    expect(crashLoop(crashLoopPolicy(undefined, true), 1, 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });
  it("prefers a configured maximum to that gate's, but keeps the gate's first delay", () => {
    expect(crashLoop(crashLoopPolicy(300_000, true), 1, 11)).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
  });
  it("forgets a container that ran more than 10 minutes", () => {
    expect(crashLoop(DEFAULT_CRASH_LOOP_POLICY, 601, 3)).toEqual([0, 0, 0]);
  });
  it("does not forget one that ran exactly 10 minutes", () => {
    expect(crashLoop(DEFAULT_CRASH_LOOP_POLICY, 600, 3)).toEqual([0, 10, 20]);
  });
  it("keeps 10 minutes as the quiet time whatever the maximum", () => {
    expect(crashLoopPolicy(1_000)).toEqual({ initialMs: 1_000, maxMs: 1_000, resetAfterMs: 600_000 });
  });
});

describe("nextDelay and nextBackoff", () => {
  const policy = DEFAULT_CRASH_LOOP_POLICY;
  it.each([
    ["a new key gets the first delay", undefined, 0, 10_000],
    ["a known key doubles", { delayMs: 40_000, updatedAt: mono(0) }, 100, 80_000],
    ["the maximum holds", { delayMs: 200_000, updatedAt: mono(0) }, 100, 300_000],
    ["a forgotten key starts over", { delayMs: 300_000, updatedAt: mono(0) }, 601, 10_000],
  ])("%s", (_title, entry, at, delayMs) => {
    expect(nextDelay(entry, mono(at), policy)).toBe(delayMs);
    expect(nextBackoff(entry, mono(at), policy)).toEqual({ delayMs, updatedAt: mono(at) });
  });
});

describe("backoff that counts from the failure", () => {
  const policy = DEFAULT_CRASH_LOOP_POLICY;
  const failed = registerFailure(NO_BACKOFFS, "image", mono(100), policy);
  it.each([
    ["right after the failure", 100, mono(110)],
    ["a moment before the end", 109.999, mono(110)],
    ["at the end", 110, undefined],
    ["long after", 900, undefined],
  ])("%s", (_title, now, until) => {
    expect(retryAt(failed, "image", mono(now), policy)).toBe(until);
  });
  it("delays no other key", () => {
    expect(retryAt(failed, "other", mono(100), policy)).toBeUndefined();
  });
  it("doubles with the second failure", () => {
    const twice = registerFailure(failed, "image", mono(111), policy);
    expect(twice).toEqual(new Map([["image", { delayMs: 20_000, updatedAt: mono(111) }]]));
    expect(retryAt(twice, "image", mono(111), policy)).toBe(mono(131));
  });
});

describe("registerRestart", () => {
  const POLICY = DEFAULT_CRASH_LOOP_POLICY;
  const table: ContainerBackoffs = new Map([["old", { delayMs: 300_000, updatedAt: mono(0) }]]);

  it.each<[string, number, readonly string[]]>([
    ["keeps a key while its container may wait for the longest delay", 900, ["old", KEY]],
    ["drops a key whose backoff is forgotten then", 900.001, [KEY]],
  ])("%s", (_title, nowS, keys) => {
    const now = mono(nowS);
    expect([...registerRestart(table, KEY, now, now, POLICY).keys()]).toEqual(keys);
  });

  it("drops the key registered first beyond the bound", () => {
    let backoffs: ContainerBackoffs = new Map(
      Array.from({ length: 10_000 }, (_, index) => [`key-${index}`, { delayMs: 10_000, updatedAt: mono(0) }]),
    );
    backoffs = registerRestart(backoffs, "key-0", mono(1), mono(1), POLICY);
    const isKnown = (): readonly boolean[] => ["key-0", "key-1", "key-2"].map((key) => backoffs.has(key));
    expect([backoffs.size, ...isKnown()]).toEqual([10_000, true, true, true]);
    backoffs = registerRestart(backoffs, "new", mono(1), mono(1), POLICY);
    expect([backoffs.size, ...isKnown()]).toEqual([10_000, true, false, true]);
  });
});

describe("syncErrorDelayMs", () => {
  const network = kubeletError("Unavailable", "network is not ready", { reason: "NetworkNotReady" });
  const other = kubeletError("Unknown", "boom");
  it.each([
    ["1 s while the network is not ready", [network], 0, 1_000],
    ["up to 1.5 s with jitter", [network], 1, 1_500],
    ["10 s for any other error", [other], 0, 10_000],
    ["up to 15 s with jitter", [other], 0.5, 12_500],
    ["10 s when only some of the errors are transient", [network, other], 0, 10_000],
    ["10 s without any error", [], 0, 10_000],
  ])("%s", (_title, errors, random, delayMs) => {
    expect(syncErrorDelayMs(errors, random)).toBe(delayMs);
  });
});
