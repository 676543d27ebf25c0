import { describe, expect, it } from "vitest";
import {
  awaitedEviction,
  isAnyCleanedUp,
  nextDeadline,
  settleEvictions,
} from "../../../../src/core/eviction/awaitedEvictions.ts";
import type { Observations } from "../../../../src/core/eviction/observations.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord, type Registry } from "../../../../src/core/pod/podRegistry.ts";

const evictionOf = (uid: string, graceSeconds = 1) => ({
  uid: podUid(uid),
  message: "",
  graceSeconds,
  isDisrupted: true,
});
const waitFor = (...given: readonly (readonly [uid: string, graceSeconds: number])[]) =>
  awaitedEviction(
    given.map(([uid, graceSeconds]) => evictionOf(uid, graceSeconds)),
    false,
    monotonicMs(1_000),
  );

const STATES: Readonly<Record<string, Partial<PodRecord>>> = {
  runs: { state: "syncing" },
  stops: { state: "terminating" },
  stopped: { state: "terminated" },
  clean: { state: "terminated", reclaimed: true },
};
/** A registry with one record for each name and state. */
const registryOf = (pods: Readonly<Record<string, string>>): Registry => ({
  ...emptyRegistry,
  records: new Map(
    Object.entries(pods).map(([name, state]) => {
      const record = { ...freshRecord({ uid: podUid(name), name, namespace: "demo" }), ...STATES[state] };
      return [record.identity.uid, record];
    }),
  ),
});

describe("the wait for an evicted pod", () => {
  it.each([
    ["has 10 s for the stop, and 30 s for the rest", waitFor(["a", 1]), 11_000, 41_000],
    ["is longer after a long grace period", waitFor(["a", 1], ["b", 60]), 91_000, 121_000],
  ])("%s", (_, { stopBy, until }, expectedStop, expectedEnd) => {
    expect([stopBy, until]).toEqual([expectedStop, expectedEnd]);
  });

  it.each<
    [string, Readonly<Record<string, string>>, number, readonly [waits: number, overdue: string, givenUp: string]]
  >([
    ["lasts while a pod runs", { a: "runs", b: "clean" }, 10_999, [1, "", ""]],
    ["lasts while a pod is not cleaned up", { a: "stopped", b: "clean" }, 40_999, [1, "", ""]],
    ["ends when all pods are cleaned up", { a: "clean", b: "clean" }, 1_000, [0, "", ""]],
    ["ends when all pods are gone", {}, 1_000, [0, "", ""]],
    ["names the pods that have not stopped in time", { a: "stops", b: "stopped" }, 11_000, [1, "a", ""]],
    ["ends after its time", { a: "stops", b: "stopped" }, 41_000, [0, "a", "a,b"]],
  ])("%s", (_, pods, now, [waits, overdue, givenUp]) => {
    const settled = settleEvictions([waitFor(["a", 1], ["b", 1])], registryOf(pods), new Map(), monotonicMs(now));
    expect([settled.awaited.length, settled.overdue.join(), settled.givenUp.join()]).toEqual([waits, overdue, givenUp]);
    expect(isAnyCleanedUp([waitFor(["a", 1], ["b", 1])], registryOf(pods))).toBe(waits === 0 && givenUp === "");
  });

  it("names a late pod once, and then ends by time alone", () => {
    const registry = registryOf({ a: "stops" });
    const first = settleEvictions([waitFor(["a", 1])], registry, new Map(), monotonicMs(11_000));
    const second = settleEvictions(first.awaited, registry, new Map(), monotonicMs(12_000));
    expect([first.overdue, second.overdue]).toEqual([[podUid("a")], []]);
    expect([[waitFor(["a", 1])], first.awaited, []].map(nextDeadline)).toEqual([11_000, 41_000, Infinity]);
  });

  it("goes on for 10 s while no more is available than before the eviction", () => {
    const seen = (available: number): Observations =>
      new Map([["memory.available", { available, capacity: 1_000, at: monotonicMs(0) }]]);
    const starved = { signal: "memory.available", available: 90 } as const;
    const wait = awaitedEviction([evictionOf("a")], false, monotonicMs(1_000), starved);
    const registry = registryOf({ a: "clean" });
    const { awaited } = settleEvictions([wait], registry, seen(90), monotonicMs(2_000));
    expect([awaited.map(({ until }) => until), nextDeadline(awaited)]).toEqual([[12_000], 12_000]);
    // The next look is due by time alone.
    expect([isAnyCleanedUp([wait], registry), isAnyCleanedUp(awaited, registry)]).toEqual([true, false]);
    const later = [seen(90), seen(91), new Map()].map(
      (observations) => settleEvictions(awaited, registry, observations, monotonicMs(11_999)).awaited.length,
    );
    expect(later).toEqual([1, 0, 0]);
    expect(settleEvictions(awaited, registry, seen(90), monotonicMs(12_000))).toEqual({
      awaited: [],
      overdue: [],
      givenUp: [],
    });
  });
});
