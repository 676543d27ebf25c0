import { describe, it } from "vitest";
import { distinctBy } from "../../../src/operators/distinctBy.ts";
import { marbles } from "../../support/marbles.ts";

describe("distinctBy", () => {
  const sameLetter = distinctBy<string>((before, now) => before.toLowerCase() === now.toLowerCase());

  it(
    "drops a value equal to the one passed on last",
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot("-aA-b-a-|");
      expectObservable(source.pipe(sameLetter)).toBe("-a--b-a-|");
      expectSubscriptions(source).toBe("^-------!");
    }),
  );

  it(
    "compares with what was passed on, not with what was dropped",
    marbles(({ cold, expectObservable }) => {
      const close = distinctBy<number>((before, now) => Math.abs(before - now) < 10);
      expectObservable(cold("abcd|", { a: 1, b: 8, c: 12, d: 20 }).pipe(close)).toBe("a-c-|", { a: 1, c: 12 });
    }),
  );

  it(
    "passes errors of source and comparison on",
    marbles(({ cold, expectObservable }) => {
      const throwing = distinctBy<string>(() => {
        throw "no";
      });
      expectObservable(cold("-a#").pipe(sameLetter)).toBe("-a#");
      expectObservable(cold("-ab-|").pipe(throwing)).toBe("-a#", undefined, "no");
    }),
  );

  it(
    "stops the source on unsubscribe",
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot("-a-b--");
      expectObservable(source.pipe(sameLetter), "--!").toBe("-a-");
      expectSubscriptions(source).toBe("^-!");
    }),
  );
});
