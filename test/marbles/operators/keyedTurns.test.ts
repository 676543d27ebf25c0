import { describe, expect, it } from "vitest";
import { createKeyedTurns } from "../../../src/operators/keyedTurns.ts";
import { marbles } from "../../support/marbles.ts";

describe("keyedTurns", () => {
  it(
    "runs calls with one key in turn, beside those with another key",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source = "   --a|";
      const expected = " --a|";
      const next = "     -----a|";
      const nextSub = "  ---^--!";
      const turns = createKeyedTurns();
      const [first, second, other] = [cold(source), cold(source), cold(source)];
      expectObservable(turns.run("k", first)).toBe(expected);
      expectObservable(turns.run("k", second)).toBe(next);
      expectObservable(turns.run("l", other)).toBe(expected);
      expectSubscriptions(second).toBe(nextSub);
      flush();
      expect(turns.size).toBe(0);
    }),
  );

  it(
    "gives up the place of a cancelled call",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source = "   ----a|";
      const expected = " ----a|";
      const unsub = "    --!";
      const never = "    ---";
      const turns = createKeyedTurns();
      const [first, second] = [cold(source), cold(source)];
      expectObservable(turns.run("k", first)).toBe(expected);
      expectObservable(turns.run("k", second), unsub).toBe(never);
      expectSubscriptions(second).toBe();
      flush();
      expect(turns.size).toBe(0);
    }),
  );
});
