import { describe, expect, it } from "vitest";
import type { Blocker, Leaving, OverdueFor } from "../../../../src/core/admission/leavingPods.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord } from "../../../../src/core/pod/podRegistryTypes.ts";
import { nextOverdue } from "../../../../src/core/pod/registryOverdue.ts";
import { mono, pod } from "../samples.ts";

const leaving = (criticalPods: number, everyone: number, overdueFor?: OverdueFor): Leaving => ({
  due: { criticalPods: mono(criticalPods), everyone: mono(everyone) },
  overdueFor,
});
const record = (name: string, more: Partial<PodRecord>): readonly [string, Partial<PodRecord>] => [name, more];
const leaver = (name: string, how: Leaving | undefined, state: PodRecord["state"] = "terminating") =>
  record(name, { state, leaving: how });
const awaiting = (names: readonly string[], more: Partial<PodRecord> = {}) =>
  record("waiter", {
    state: "waiting",
    pod: pod(),
    behind: names.map((name): Blocker => ({ uid: podUid(name), name, until: mono(0) })),
    ...more,
  });
const critical = pod({ priority: 2_000_000_000 });

const next = (unclaimed: Leaving | undefined, ...records: readonly ReturnType<typeof record>[]) =>
  nextOverdue({
    ...emptyRegistry,
    unclaimed,
    records: new Map(
      records.map(([name, more]) => {
        const uid = podUid(name);
        return [uid, { ...freshRecord({ uid, name, namespace: "demo" }), ...more }];
      }),
    ),
  });
const due = (name: string | undefined, waiter: OverdueFor, at: number) => ({
  uid: name === undefined ? undefined : podUid(name),
  for: waiter,
  at: mono(at),
});

describe("nextOverdue", () => {
  it.each<[string, Leaving | undefined, readonly ReturnType<typeof record>[], unknown]>([
    ["nothing without pods that wait", undefined, [leaver("a", leaving(1, 2))], undefined],
    ["the deadline for everyone", undefined, [leaver("a", leaving(1, 2)), awaiting(["a"])], due("a", "everyone", 2)],
    [
      "the deadline for critical pods if the pod that waits is one",
      undefined,
      [leaver("a", leaving(1, 2)), awaiting(["a"], { pod: critical })],
      due("a", "criticalPods", 1),
    ],
    [
      "the earliest of several",
      undefined,
      [leaver("a", leaving(1, 9)), leaver("b", leaving(1, 5)), leaver("c", leaving(1, 7)), awaiting(["a", "b", "c"])],
      due("b", "everyone", 5),
    ],
    [
      "the first of several that are equal",
      undefined,
      [leaver("a", leaving(1, 5)), leaver("b", leaving(1, 5)), awaiting(["a", "b"])],
      due("a", "everyone", 5),
    ],
    [
      "also for a pod that runs and waits to grow",
      undefined,
      [leaver("a", leaving(1, 5)), awaiting(["a"], { state: "syncing" })],
      due("a", "everyone", 5),
    ],
    [
      "nothing for a pod that terminates itself",
      undefined,
      [leaver("a", leaving(1, 5)), awaiting(["a"], { state: "terminating" })],
      undefined,
    ],
    ["nothing for an orphan", undefined, [leaver("a", leaving(1, 5)), awaiting(["a"], { pod: undefined })], undefined],
    [
      "nothing once the pod is overdue for everyone",
      undefined,
      [leaver("a", leaving(1, 5, "everyone")), awaiting(["a"], { pod: critical })],
      undefined,
    ],
    [
      "nothing for critical pods once it is overdue for them",
      undefined,
      [leaver("a", leaving(1, 5, "criticalPods")), awaiting(["a"], { pod: critical })],
      undefined,
    ],
    [
      "the deadline for everyone when it is overdue for critical pods",
      undefined,
      [leaver("a", leaving(1, 5, "criticalPods")), awaiting(["a"])],
      due("a", "everyone", 5),
    ],
    [
      "nothing of a pod that has stopped",
      undefined,
      [leaver("a", leaving(1, 5), "terminated"), awaiting(["a"])],
      undefined,
    ],
    ["nothing of a pod without deadline", undefined, [leaver("a", undefined), awaiting(["a"])], undefined],
    [
      "the deadline of pods that no source has claimed",
      leaving(1, 6),
      [awaiting(["gone"])],
      due(undefined, "everyone", 6),
    ],
    ["nothing of unclaimed pods without deadline", undefined, [awaiting(["gone"])], undefined],
  ])("is %s", (_, unclaimed, records, expected) => {
    expect(next(unclaimed, ...records)).toEqual(expected);
  });
});
