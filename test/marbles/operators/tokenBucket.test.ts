import { map, merge, mergeMap, range } from "rxjs";
import { describe, expect, it } from "vitest";
import { tokenBucket } from "../../../src/operators/tokenBucket.ts";
import { marbles } from "../../support/marbles.ts";

describe("tokenBucket", () => {
  it(
    "lets a burst through at once, then one per period, first come first served",
    marbles(({ clock, expectObservable }) => {
      const expected = "(01) 196ms 2 199ms 3 199ms (4|)";

      const bucket = tokenBucket({ qps: 5, burst: 2, clock });
      const all$ = range(0, 5).pipe(mergeMap((n) => bucket.acquire().pipe(map(() => String(n)))));
      expectObservable(all$).toBe(expected);
    }),
  );

  it(
    "refills while it is unused, never beyond its depth",
    marbles(({ clock, hot, expectObservable }) => {
      const asks = "    (abc) 95ms (defg) 20ms |";
      const expected = "(ab)c 95ms (de)f---g 17ms |";

      const bucket = tokenBucket({ qps: 1000 / 4, burst: 2, clock });
      const asks$ = hot(asks);
      const granted$ = asks$.pipe(mergeMap((v) => bucket.acquire().pipe(map(() => v))));
      expectObservable(granted$).toBe(expected);
    }),
  );

  it(
    "serves the next waiter in place of one that unsubscribed",
    marbles(({ clock, expectObservable, flush }) => {
      const expectedFirst = "   (a|)";
      const leaving = "         ^--!";
      const expectedLeft = "    ----";
      const expectedNext = "    ----(c|)";
      const lastSubscription = "-^";
      const expectedLast = "    --------(d|)";

      const bucket = tokenBucket({ qps: 250, burst: 1, clock });
      const ask = (name: string) => bucket.acquire().pipe(map(() => name));
      expectObservable(ask("a")).toBe(expectedFirst);
      expectObservable(ask("b"), leaving).toBe(expectedLeft);
      expectObservable(ask("c")).toBe(expectedNext);
      expectObservable(ask("d"), lastSubscription).toBe(expectedLast);
      flush();
      expect(bucket.waiting).toBe(0);
    }),
  );

  it(
    "leaves no timer behind when the last waiter leaves",
    marbles(({ clock, scheduler, at, expectObservable, flush }) => {
      const expectedFirst = "(a|)";
      const leaving = "      ^--!";
      const expectedLeft = " ----";

      const bucket = tokenBucket({ qps: 1, burst: 1, clock });
      expectObservable(bucket.acquire().pipe(map(() => "a"))).toBe(expectedFirst);
      expectObservable(bucket.acquire(), leaving).toBe(expectedLeft);
      at(4, () => expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 4, left: 0 }));
      flush();
      expect(scheduler.now()).toBeLessThan(1000);
    }),
  );

  it(
    "does not limit with a rate of 0",
    marbles(({ clock, expectObservable }) => {
      const expected = "(aaa|)";

      const bucket = tokenBucket({ qps: 0, burst: 1, clock });
      const acquire = () => bucket.acquire().pipe(map(() => "a"));
      expectObservable(merge(acquire(), acquire(), acquire())).toBe(expected);
    }),
  );

  it(
    "keeps its rate exactly over 10,000 tokens",
    marbles(({ clock, flush }) => {
      const bucket = tokenBucket({ qps: 3, burst: 1, clock });
      let lastAt = -1;
      range(0, 10_000)
        .pipe(mergeMap(() => bucket.acquire()))
        .subscribe({ next: () => (lastAt = clock.monotonicMs()) });
      flush();
      expect(lastAt).toBe(Math.ceil((9_999 * 1000) / 3));
    }),
  );

  it(
    "serves a re-entrant request after the waiting ones",
    marbles(({ clock, expectObservable }) => {
      const expectedFirst = "    (a|)";
      const expectedReentrant = "------(c|)";
      const expectedWaiting = "  ----(d|)";

      const bucket = tokenBucket({ qps: 500, burst: 1, clock });
      const ask = (name: string) => bucket.acquire().pipe(map(() => name));
      expectObservable(ask("a")).toBe(expectedFirst);
      expectObservable(ask("b").pipe(mergeMap(() => ask("c")))).toBe(expectedReentrant);
      expectObservable(ask("d")).toBe(expectedWaiting);
    }),
  );
});
