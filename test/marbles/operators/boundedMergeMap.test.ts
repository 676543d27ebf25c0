import { map, of, range, Subject, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { boundedMergeMap } from "../../../src/operators/boundedMergeMap.ts";
import { marbles } from "../../support/marbles.ts";

const bounds = { limit: 2, queueLimit: 10 };

describe("boundedMergeMap", () => {
  it(
    "runs as many inners at once as its limit, the rest in order as places come free",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot("-abc-|");
      const inner = cold("  ----(x|)");
      const result$ = source.pipe(boundedMergeMap((v) => inner.pipe(map(() => v)), bounds));
      expectObservable(result$).toBe("-----ab--(c|)");
      expectSubscriptions(inner).toBe("-^---!", "--^---!", "-----^---!");
      expectSubscriptions(source).toBe("^----!");
    }),
  );

  it(
    "drops the arriving value when the queue is full",
    marbles(({ hot, cold, expectObservable, flush }) => {
      const dropped: string[] = [];
      const run = boundedMergeMap((v: string) => cold("---(x|)").pipe(map(() => v)), {
        limit: 1,
        queueLimit: 1,
        onDrop: (v) => dropped.push(v),
      });
      expectObservable(hot("(abcd)---|").pipe(run)).toBe("---a--b--|");
      flush();
      expect(dropped).toEqual(["c", "d"]);
    }),
  );

  it(
    "drops the value waiting longest when asked to",
    marbles(({ hot, cold, expectObservable, flush }) => {
      const dropped: string[] = [];
      const run = boundedMergeMap((v: string) => cold("---(x|)").pipe(map(() => v)), {
        limit: 1,
        queueLimit: 1,
        overflow: "dropOldest",
        onDrop: (v) => dropped.push(v),
      });
      expectObservable(hot("(abcd)---|").pipe(run)).toBe("---a--d--|");
      flush();
      expect(dropped).toEqual(["b", "c"]);
    }),
  );

  it(
    "drops everything that does not run at once when nothing may wait",
    marbles(({ hot, cold, expectObservable, flush }) => {
      const dropped: string[] = [];
      const run = boundedMergeMap((v: string) => cold("---(x|)").pipe(map(() => v)), {
        limit: 1,
        queueLimit: 0,
        overflow: "dropOldest",
        onDrop: (v) => dropped.push(v),
      });
      expectObservable(hot("(ab)-c-|").pipe(run)).toBe("---a----(c|)");
      flush();
      expect(dropped).toEqual(["b"]);
    }),
  );

  it(
    "passes errors of source, inner and project on and stops what runs",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const inner = cold("-------|");
      expectObservable(hot("-ab-#").pipe(boundedMergeMap(() => inner, bounds))).toBe("----#");
      expectSubscriptions(inner).toBe("-^--!", "--^-!");
      const either = (v: string) => (v === "a" ? cold("-------|") : cold("-#"));
      expectObservable(hot("-ab---").pipe(boundedMergeMap(either, bounds))).toBe("---#");
      const throwing = () => {
        throw "no";
      };
      expectObservable(hot("-a").pipe(boundedMergeMap(throwing, bounds))).toBe("-#", {}, "no");
    }),
  );

  it(
    "stops source and inners on unsubscribe and runs nothing that waited",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot("(abc)---");
      const inner = cold("------|");
      expectObservable(source.pipe(boundedMergeMap(() => inner, bounds)), "---!").toBe("----");
      expectSubscriptions(inner).toBe("^--!", "^--!");
      expectSubscriptions(source).toBe("^--!");
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
