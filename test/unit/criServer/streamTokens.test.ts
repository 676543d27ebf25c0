/** URLs of streams: once, and for a minute. */
import { expect, it } from "vitest";
import { createStreamTokens } from "../../../src/criServer/streamTokens.ts";

function tokens() {
  const clock = { now: 0 };
  return { clock, tokens: createStreamTokens<string>(() => clock.now) };
}

it("accepts a token once", () => {
  const { tokens: made } = tokens();
  const [one, two] = [made.issue("one"), made.issue("two")];
  expect([made.take(two), made.take(one), made.take(one), made.take("other")]).toEqual([
    "two",
    "one",
    undefined,
    undefined,
  ]);
  expect([one, two].every((token) => /^[\w-]{22}$/.test(token)) && one !== two).toBe(true);
});

it("accepts a token for a minute", () => {
  const { clock, tokens: made } = tokens();
  const early = made.issue("early");
  clock.now = 1;
  const late = made.issue("late");
  clock.now = 60_000;
  expect([made.take(early), made.take(late)]).toEqual([undefined, "late"]);
});

it("allows a thousand pending tokens and drops expired ones", () => {
  const { clock, tokens: made } = tokens();
  for (let count = 0; count < 1000; count++) made.issue("waits");
  expect(() => made.issue("one more")).toThrow("maximum number of in-flight requests exceeded");
  clock.now = 60_000;
  expect(made.take(made.issue("later"))).toBe("later");
});
