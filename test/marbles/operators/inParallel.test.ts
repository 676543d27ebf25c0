import { of, range, take, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { inParallel } from "../../../src/operators/inParallel.ts";
import { marbles } from "../../support/marbles.ts";

describe("inParallel", () => {
  it(
    "runs all items at the same time and completes with the last",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = { a: cold("--x----y|"), b: cold("----z|"), c: cold("|") };
      expectObservable(inParallel(["a", "b", "c"] as const, (name) => work[name])).toBe("--x-z--y|");
      expectSubscriptions(work.a).toBe("^-------!");
      expectSubscriptions(work.b).toBe("^----!");
    }),
  );

  it(
    "completes at once without items",
    marbles(({ expectObservable }) => {
      expectObservable(inParallel([], () => of(1))).toBe("|");
    }),
  );

  it(
    "errors with the first error, thrown or emitted, and cancels the others",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = { a: cold("-------x|"), b: cold("--#") };
      expectObservable(inParallel(["a", "b"] as const, (name) => work[name])).toBe("--#");
      expectSubscriptions(work.a).toBe("^-!");
      const throwing = () => {
        throw "no";
      };
      expectObservable(inParallel(["a"], throwing)).toBe("#", {}, "no");
    }),
  );

  it(
    "cancels all items on unsubscribe",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = { a: cold("-------x|"), b: cold("-y------|") };
      expectObservable(
        inParallel(["a", "b"] as const, (name) => work[name]),
        "---!",
      ).toBe("-y--");
      expectSubscriptions(work.a).toBe("^--!");
      expectSubscriptions(work.b).toBe("^--!");
    }),
  );

  it("starts no further item once downstream had enough", () => {
    const started: number[] = [];
    inParallel([1, 2, 3], (n) => range(0, 2).pipe(tap({ subscribe: () => started.push(n) })))
      .pipe(take(3))
      .subscribe({});
    expect(started).toEqual([1, 2]);
  });
});
