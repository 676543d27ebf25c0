import { EMPTY } from "rxjs";
import { expect, it } from "vitest";
import { InvariantError } from "../../../src/core/invariant.ts";
import { Alarm } from "../../../src/operators/alarm.ts";
import { backoffDelay } from "../../../src/operators/backoffDelay.ts";
import { boundedMergeMap } from "../../../src/operators/boundedMergeMap.ts";
import { conflateByKey } from "../../../src/operators/conflateByKey.ts";
import { createQueue } from "../../../src/operators/createQueue.ts";
import { createSemaphore } from "../../../src/operators/semaphore.ts";
import { tokenBucket } from "../../../src/operators/tokenBucket.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { realClock } from "../../support/realClock.ts";

const work = () => EMPTY;

it.each<[string, () => unknown]>([
  ["boundedMergeMap without room for one", () => boundedMergeMap(work, { limit: 0, queueLimit: 1 })],
  ["boundedMergeMap with a negative queue", () => boundedMergeMap(work, { limit: 1, queueLimit: -1 })],
  ["conflateByKey without room for one", () => conflateByKey(work, { key: String, limit: 0 })],
  ["a queue of nothing", () => createQueue("empty", { bound: 0, clock: realClock })],
  ["a semaphore that lets nobody through", () => createSemaphore(0)],
  ["a bucket without a rate", () => tokenBucket({ qps: Number.NaN, burst: 1, clock: realClock })],
  ["an alarm at no time", () => new Alarm(realClock, () => undefined).set(Number.NaN)],
  ["a backoff that never ends", () => backoffDelay({ initialMs: 1, maxMs: Infinity }, 2_000, fixedRng(0))],
])("%s is a broken invariant", (_, create) => {
  expect(create).toThrow(InvariantError);
});

it.each<[string, () => unknown]>([
  ["boundedMergeMap", () => boundedMergeMap(work, { limit: 1, queueLimit: 0 })],
  ["conflateByKey", () => conflateByKey(work, { key: String, limit: 1 })],
  ["a queue", () => createQueue("small", { bound: 1, clock: realClock })],
  ["a semaphore", () => createSemaphore(1)],
  ["a bucket without a limit", () => tokenBucket({ qps: 0, burst: 1, clock: realClock })],
])("%s takes its least bound", (_, create) => {
  expect(create).not.toThrow();
});
