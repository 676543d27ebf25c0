import { expect, it } from "vitest";
import { InvariantError } from "../../../src/core/invariant.ts";
import { type UnhandledError, unhandledErrors } from "../../../src/sources/unhandledErrors.ts";

type Listener = (error: unknown) => void;
const EVENTS = ["uncaughtException", "unhandledRejection"] as const;
const countListeners = (): readonly number[] => EVENTS.map((event) => process.listenerCount(event));
/** The listeners are called directly: the test runner has listeners of its own, which would fail the run. */
const newest = (event: (typeof EVENTS)[number]): Listener => process.listeners(event as "exit").at(-1) as Listener;

it("emits exceptions and rejections while subscribed", () => {
  const before = countListeners();
  const heard: UnhandledError[] = [];
  const subscription = unhandledErrors().subscribe((each) => heard.push(each));
  expect(countListeners()).toEqual(before.map((count) => count + 1));
  newest("uncaughtException")("thrown");
  newest("unhandledRejection")("rejected");
  expect(heard).toEqual([
    { kind: "exception", error: "thrown" },
    { kind: "rejection", error: "rejected" },
  ]);
  subscription.unsubscribe();
  expect(countListeners()).toEqual(before);
});

it("errors on a broken invariant, and listens no more", () => {
  const before = countListeners();
  const broken = new InvariantError("broken");
  let thrown: unknown;
  unhandledErrors().subscribe({ error: (error: unknown) => (thrown = error) });
  newest("uncaughtException")(broken);
  expect([thrown, countListeners()]).toEqual([broken, before]);
});
