import { describe, expect, it } from "vitest";
import { emptyWorkQueue, nextWork, reduceWork, type WorkEvent, type WorkOutcome } from "../../../src/core/workQueue.ts";

type Event = WorkEvent<string>;

const delayMs = (failures: number): number => 100 * failures;
const added = (key: string, priority: number): Event => ({ kind: "added", key, priority });
const started = (key: string): Event => ({ kind: "started", key });
const ended = (key: string, nowMs: number, outcome?: WorkOutcome): Event => ({
  kind: "ended",
  key,
  outcome,
  nowMs,
  delayMs,
});
const answered: WorkOutcome = { kind: "answered" };
const failed: WorkOutcome = { kind: "failed" };
const away: WorkOutcome = { kind: "away", pauseMs: 0 };
const returned: Event = { kind: "returned" };
const turn: Event = { kind: "turnGiven" };
const begun = (key: string): readonly Event[] => [added(key, 0), turn, started(key)];
const queueAfter = (events: readonly Event[]) => events.reduce(reduceWork<string>, emptyWorkQueue<string>());
const start = (key: string) => ({ kind: "start", key });
const waitUntil = (untilMs: number | undefined) => ({ kind: "wait", untilMs });

describe("nextWork, with two pieces of work at a time", () => {
  it.each<[string, readonly Event[], number, unknown]>([
    ["waits for an event without keys", [turn], 0, waitUntil(undefined)],
    ["starts the most urgent key", [added("a", 2), added("b", 0), turn], 0, start("b")],
    [
      "starts the key that waits longest among equals",
      [added("a", 1), added("b", 1), added("a", 1), turn],
      0,
      start("a"),
    ],
    [
      "gives a key with another priority a new place",
      [added("a", 0), added("b", 1), added("a", 1), turn],
      0,
      start("b"),
    ],
    ["asks for a turn without a free one", [added("a", 0)], 0, { kind: "askTurn" }],
    ["asks for one turn only", [added("a", 0), { kind: "turnAsked" }], 0, { kind: "awaitTurn" }],
    ["waits at the limit", [...begun("a"), ...begun("b"), added("c", 0), turn], 0, waitUntil(undefined)],
    ["works on one key once at a time", [...begun("a"), added("a", 0), turn], 0, waitUntil(undefined)],
    ["works once more on a key added meanwhile", [...begun("a"), added("a", 0), turn, ended("a", 5)], 5, start("a")],
    ["returns the turn of work without an outcome", [...begun("a"), ended("a", 5), added("b", 0)], 5, start("b")],
    ["forgets a key without an outcome", [...begun("a"), ended("a", 5)], 5, waitUntil(undefined)],
    ["looks again after an answer", [...begun("a"), ended("a", 5, answered), turn], 5, start("a")],
    ["starts later work when due", [...begun("a"), ended("a", 5, { kind: "later", afterMs: 7 }), turn], 12, start("a")],
    ["waits for later work", [...begun("a"), ended("a", 5, { kind: "later", afterMs: 7 }), turn], 11, waitUntil(12)],
    ["delays a failed key", [...begun("a"), ended("a", 5, failed), turn], 5, waitUntil(105)],
    [
      "does not delay a failed key added again",
      [...begun("a"), ended("a", 5, failed), added("a", 0), turn],
      5,
      start("a"),
    ],
    ["does not delay other keys", [...begun("a"), ended("a", 5, failed), added("b", 0), turn], 5, start("b")],
    [
      "delays the second failure longer",
      [...begun("a"), ended("a", 5, failed), turn, started("a"), ended("a", 105, failed), turn],
      105,
      waitUntil(305),
    ],
    [
      "starts the delays anew after an answer",
      [
        ...begun("a"),
        ended("a", 5, failed),
        ...begun("a"),
        ended("a", 6, answered),
        ...begun("a"),
        ended("a", 7, failed),
      ],
      7,
      waitUntil(107),
    ],
    [
      "delays every key while the other side is away",
      [...begun("a"), ended("a", 5, away), added("b", 0)],
      5,
      waitUntil(105),
    ],
    [
      "waits as long as the other side asks",
      [...begun("a"), ended("a", 5, { kind: "away", pauseMs: 500 }), added("b", 0)],
      5,
      waitUntil(505),
    ],
    [
      "counts failures of work under way together once",
      [...begun("a"), ...begun("b"), ended("a", 5, away), ended("b", 6, away)],
      6,
      waitUntil(105),
    ],
    [
      "tries one key at a time while the other side is away",
      [...begun("a"), ended("a", 5, away), added("b", 0), added("c", 0), turn, turn, started("b")],
      200,
      waitUntil(undefined),
    ],
    [
      "lets keys take turns while the other side is away",
      [...begun("a"), added("b", 9), ended("a", 5, away), turn],
      200,
      start("b"),
    ],
    ["tries at once when the other side returns", [...begun("a"), ended("a", 5, away), returned, turn], 5, start("a")],
    [
      "tries one key at a time after a return until one is answered",
      [...begun("a"), ended("a", 5, away), returned, turn, started("a"), added("b", 0), turn],
      5,
      waitUntil(undefined),
    ],
    [
      "works at the limit again after an answer",
      [
        ...begun("a"),
        ...begun("b"),
        ended("a", 5, away),
        ended("b", 6, answered),
        turn,
        started("b"),
        added("c", 0),
        turn,
      ],
      6,
      start("c"),
    ],
  ])("%s", (_title, events, nowMs, step) => expect(nextWork(queueAfter(events), 2, nowMs)).toEqual(step));
});

describe("reduceWork", () => {
  it("leaves the queue that it is given unchanged", () => {
    const before = queueAfter([added("a", 0), turn]);
    const copy = structuredClone(before);
    for (const event of [added("b", 1), started("a"), returned, turn]) reduceWork(before, event);
    expect(before).toEqual(copy);
  });

  it("keeps nothing of a key that is done", () => {
    const done = queueAfter([...begun("a"), ended("a", 1, failed), turn, started("a"), ended("a", 2)]);
    expect([done.waiting.size, done.running.size, done.failures.size]).toEqual([0, 0, 0]);
  });
});
