import { expect, it } from "vitest";
import { createNodeTime } from "../../../../src/livePage/model/nodeTime.ts";

it("takes both clocks as equal before the first message", () => {
  expect(createNodeTime().at(5_000)).toBe(5_000);
});
it("follows the message that was the least delayed", () => {
  const time = createNodeTime();
  // The node's clock is 10,000 ms ahead; messages arrive late by 900, 20 and 400 ms.
  for (const [receivedAt, late] of [
    [1_000, 900],
    [2_000, 20],
    [3_000, 400],
  ] as const)
    time.observe(receivedAt + 10_000 - late, receivedAt);
  expect(time.at(4_000)).toBe(13_980);
});
it("forgets old messages, so that a step of a clock is followed", () => {
  const time = createNodeTime();
  time.observe(100_000, 0);
  for (let at = 0; at < 16; at += 1) time.observe(at, at);
  expect(time.at(50)).toBe(50);
});
it("skips an instant that is no number", () => {
  const time = createNodeTime();
  time.observe(Number.NaN, 0);
  expect(time.at(7)).toBe(7);
});
