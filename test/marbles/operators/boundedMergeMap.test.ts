import { map, of, range, Subject, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { boundedMergeMap } from "../../../src/operators/boundedMergeMap.ts";
import { marbles } from "../../support/marbles.ts";

const bounds = { limit: 2, queueLimit: 10 };

describe("boundedMergeMap", () => {
  it(
    "runs as many inners at once as its limit, the rest in order as places come free",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "         -abc-|";
      const sourceSubs = "     ^----!";
      const inner = "          ----(x|)";
      const firstInnerSubs = " -^---!";
      const secondInnerSubs = "--^---!";
      const thirdInnerSubs = " -----^---!";
      const expected = "       -----ab--(c|)";

      const source$ = hot(source);
      const inner$ = cold(inner);
      const result$ = source$.pipe(boundedMergeMap((v) => inner$.pipe(map(() => v)), bounds));
      expectObservable(result$).toBe(expected);
      expectSubscriptions(inner$).toBe(firstInnerSubs, secondInnerSubs, thirdInnerSubs);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it(
    "drops the arriving value when the queue is full",
    marbles(({ hot, cold, expectObservable, flush }) => {
      const source = "  (abcd)---|";
      const inner = "   ---(x|)";
      const expected = "---a--b--|";

      const dropped: string[] = [];
      const run = boundedMergeMap((v: string) => cold(inner).pipe(map(() => v)), {
        limit: 1,
        queueLimit: 1,
        onDrop: (v) => dropped.push(v),
      });
      expectObservable(hot(source).pipe(run)).toBe(expected);
      flush();
      expect(dropped).toEqual(["c", "d"]);
    }),
  );

  it(
    "drops the value waiting longest when asked to",
    marbles(({ hot, cold, expectObservable, flush }) => {
      const source = "  (abcd)---|";
      const inner = "   ---(x|)";
      const expected = "---a--d--|";

      const dropped: string[] = [];
      const run = boundedMergeMap((v: string) => cold(inner).pipe(map(() => v)), {
        limit: 1,
        queueLimit: 1,
        overflow: "dropOldest",
        onDrop: (v) => dropped.push(v),
      });
      expectObservable(hot(source).pipe(run)).toBe(expected);
      flush();
      expect(dropped).toEqual(["b", "c"]);
    }),
  );

  it(
    "drops everything that does not run at once when nothing may wait",
    marbles(({ hot, cold, expectObservable, flush }) => {
      const source = "  (ab)-c-|";
      const inner = "   ---(x|)";
      const expected = "---a----(c|)";

      const dropped: string[] = [];
      const run = boundedMergeMap((v: string) => cold(inner).pipe(map(() => v)), {
        limit: 1,
        queueLimit: 0,
        overflow: "dropOldest",
        onDrop: (v) => dropped.push(v),
      });
      expectObservable(hot(source).pipe(run)).toBe(expected);
      flush();
      expect(dropped).toEqual(["b"]);
    }),
  );

  it(
    "passes the source's error on and stops the running inners",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "         -ab-#";
      const inner = "          -------|";
      const firstInnerSubs = " -^--!";
      const secondInnerSubs = "--^-!";
      const expected = "       ----#";

      const inner$ = cold(inner);
      expectObservable(hot(source).pipe(boundedMergeMap(() => inner$, bounds))).toBe(expected);
      expectSubscriptions(inner$).toBe(firstInnerSubs, secondInnerSubs);
    }),
  );

  it(
    "passes an inner's error on and stops the other inners",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "     -ab---";
      const healthy = "    -------|";
      const healthySubs = "-^-!";
      const failing = "    -#";
      const expected = "   ---#";

      const healthy$ = cold(healthy);
      const failing$ = cold(failing);
      const either = (v: string) => (v === "a" ? healthy$ : failing$);
      expectObservable(hot(source).pipe(boundedMergeMap(either, bounds))).toBe(expected);
      expectSubscriptions(healthy$).toBe(healthySubs);
    }),
  );

  it(
    "passes on what project throws",
    marbles(({ hot, expectObservable }) => {
      const source = "  -a";
      const expected = "-#";

      const throwing = () => {
        throw "no";
      };
      expectObservable(hot(source).pipe(boundedMergeMap(throwing, bounds))).toBe(expected, {}, "no");
    }),
  );

  it(
    "stops source and running inners on unsubscribe, and starts no waiting one",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "         (abc)---";
      const sourceSubs = "     ^--!";
      const inner = "          ------|";
      const firstInnerSubs = " ^--!";
      const secondInnerSubs = "^--!";
      const unsub = "          ---!";
      const expected = "       ----";

      const source$ = hot(source);
      const inner$ = cold(inner);
      expectObservable(source$.pipe(boundedMergeMap(() => inner$, bounds)), unsub).toBe(expected);
      expectSubscriptions(inner$).toBe(firstInnerSubs, secondInnerSubs);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it("loops through 10,000 queued synchronous inners", () => {
    const gate = new Subject<number>();
    const seen: number[] = [];
    range(0, 10_000)
      .pipe(boundedMergeMap((n) => (n === 0 ? gate.pipe(take(1)) : of(n)), { limit: 1, queueLimit: 10_000 }))
      .subscribe({ next: (n) => seen.push(n) });
    gate.next(0);
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  });

  it("loops when each result feeds the source re-entrantly", () => {
    const source = new Subject<number>();
    let last = 0;
    source.pipe(boundedMergeMap((n) => of(n), { limit: 1, queueLimit: 1 })).subscribe({
      next: (n) => {
        last = n;
        if (n < 10_000) source.next(n + 1);
      },
    });
    source.next(1);
    expect(last).toBe(10_000);
  });
});
