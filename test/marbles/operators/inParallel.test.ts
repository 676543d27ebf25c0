import { of, range, take, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { inParallel } from "../../../src/operators/inParallel.ts";
import { marbles } from "../../support/marbles.ts";

describe("inParallel", () => {
  it(
    "runs all items at the same time and completes with the last",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const longest = "    --x----y|";
      const longestSubs = "^-------!";
      const shorter = "    ----z|";
      const shorterSubs = "^----!";
      const empty = "      |";
      const expected = "   --x-z--y|";

      const work = { longest: cold(longest), shorter: cold(shorter), empty: cold(empty) };
      expectObservable(inParallel(["longest", "shorter", "empty"] as const, (name) => work[name])).toBe(expected);
      expectSubscriptions(work.longest).toBe(longestSubs);
      expectSubscriptions(work.shorter).toBe(shorterSubs);
    }),
  );

  it(
    "completes at once without items",
    marbles(({ expectObservable }) => {
      const expected = "|";

      expectObservable(inParallel([], () => of(1))).toBe(expected);
    }),
  );

  it(
    "errors with the first error of an item, and cancels the others",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const healthy = "    -------x|";
      const healthySubs = "^-!";
      const failing = "    --#";
      const expected = "   --#";

      const work = { healthy: cold(healthy), failing: cold(failing) };
      expectObservable(inParallel(["healthy", "failing"] as const, (name) => work[name])).toBe(expected);
      expectSubscriptions(work.healthy).toBe(healthySubs);
    }),
  );

  it(
    "errors with what the function throws",
    marbles(({ expectObservable }) => {
      const expected = "#";

      const throwing = () => {
        throw "no";
      };
      expectObservable(inParallel(["a"], throwing)).toBe(expected, {}, "no");
    }),
  );

  it(
    "cancels all items on unsubscribe",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const silent = "     -------x|";
      const silentSubs = " ^--!";
      const started = "    -y------|";
      const startedSubs = "^--!";
      const unsub = "      ---!";
      const expected = "   -y--";

      const work = { silent: cold(silent), started: cold(started) };
      const result$ = inParallel(["silent", "started"] as const, (name) => work[name]);
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(work.silent).toBe(silentSubs);
      expectSubscriptions(work.started).toBe(startedSubs);
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
