import { describe, expect, it } from "vitest";
import { chooseVictim, rankingFor } from "../../../../src/core/eviction/chooseVictim.ts";
import type { Threshold } from "../../../../src/core/eviction/thresholds.ts";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { freshRecord, identityOf } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord } from "../../../../src/core/pod/podRegistry.ts";
import type { Summary } from "../../../../src/core/stats/summary.ts";
import { type PodParts, podOf } from "../../../support/pods.ts";

const time = epochMs(0);
const HARD: Threshold = {
  signal: "memory.available",
  least: { units: 2_048, format: "BinarySI" },
  graceMs: 0,
  reclaim: undefined,
};
const SOFT: Threshold = { ...HARD, graceMs: 60_000 };

/** A pod whose name is the number of bytes it uses. */
const record = (bytes: number, more: Partial<PodRecord> = {}, parts: PodParts = {}): PodRecord => {
  const pod = podOf({ name: `${bytes}`, uid: `${bytes}`, ...parts });
  return { ...freshRecord(identityOf(pod)), pod, allocated: pod, state: "syncing", ...more };
};

function choose(threshold: Threshold, records: readonly PodRecord[], maxGraceSeconds = 0) {
  const summary: Summary = {
    node: { nodeName: "one", startTime: time },
    pods: records.map(({ identity: { uid, name, namespace } }) => ({
      podRef: { uid, name, namespace },
      startTime: time,
      containers: [],
      memory: { time, workingSetBytes: Number(name) },
    })),
  };
  const registry = { ...emptyRegistry, records: new Map(records.map((each) => [each.identity.uid, each])) };
  const usage = { registry, summary, layout: { hasImageFs: false, isSplit: false } };
  const observations = new Map([[threshold.signal, { available: 1_024, capacity: 4_096, at: monotonicMs(0) }]]);
  return chooseVictim(threshold, rankingFor(threshold.signal, usage), observations, usage, maxGraceSeconds);
}
const chosen = (...given: Parameters<typeof choose>) => {
  const { eviction } = choose(...given) ?? {};
  return eviction && [eviction.uid, eviction.graceSeconds];
};

describe("the pod to evict", () => {
  const critical = { spec: { priority: 2_000_000_000 } };
  const fromFile = { annotations: { "kubernetes.io/config.source": "file" } };
  const mirror = { annotations: { "kubernetes.io/config.mirror": "x" } };
  it.each<[string, readonly PodRecord[], string | undefined]>([
    ["is the first of the ranking", [record(1), record(3), record(2)], "3"],
    ["is never critical", [record(9, {}, critical), record(1)], "1"],
    ["is never static", [record(9, {}, fromFile), record(8, {}, mirror), record(1)], "1"],
    ["is running", [record(9, { state: "terminated" }), record(8, { state: "waiting" }), record(1)], "1"],
    [
      "is one that stops with a longer grace period",
      [record(9, { state: "terminating", graceSeconds: 30 }), record(1)],
      "9",
    ],
    ["is not one that stops as soon", [record(9, { state: "terminating", graceSeconds: 1 }), record(1)], "1"],
    [
      "is not one that only the runtime knows",
      [record(9, { state: "terminating", pod: undefined, allocated: undefined }), record(1)],
      "1",
    ],
    ["does not exist without a candidate", [record(9, {}, critical)], undefined],
  ])("%s", (_, records, uid) => {
    expect(chosen(HARD, records)?.[0]).toBe(uid);
  });

  const patient = (seconds: number) => record(1, {}, { spec: { terminationGracePeriodSeconds: seconds } });
  it.each<[string, Threshold, number, number, number]>([
    ["1 s at a hard threshold", HARD, 600, 120, 1],
    ["its own at a soft threshold", SOFT, 20, 120, 20],
    ["the longest allowed at a soft threshold", SOFT, 600, 120, 120],
    ["none by default at a soft threshold", SOFT, 600, 0, 0],
  ])("has a grace period of %s", (_, threshold, own, max, expected) => {
    expect(chosen(threshold, [patient(own)], max)).toEqual([podUid("1"), expected]);
  });

  it("is chosen with the figures of the moment", () => {
    expect(choose(HARD, [record(5_000, {}, critical), record(3_072)])).toMatchObject({
      eviction: {
        message: "The node was low on resource: memory. Threshold quantity: 2Ki, available: 1Ki. ",
        isDisrupted: true,
      },
      why: "memory.available was 1Ki, less than 2Ki; place 1 of 2: uses 3Ki, more than the requested 0; priority 0",
    });
  });
});
