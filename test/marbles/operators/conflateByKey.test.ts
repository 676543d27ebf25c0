import { map, NEVER, of, range, Subject, take, tap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { conflateByKey } from "../../../src/operators/conflateByKey.ts";
import { marbles } from "../../support/marbles.ts";

const values = { a: "a1", b: "a2", c: "a3", x: "b1", y: "b2", p: "c1" };
const key = (value: string) => value.slice(0, 1);
const options = { key, limit: 10 };

describe("conflateByKey", () => {
  it(
    "runs one projection per key and keeps the newest value of a busy one",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot("-abc-x----|", values);
      const work = cold(" ----r|");
      const result$ = source.pipe(conflateByKey((value) => work.pipe(map(() => value)), options));
      expectObservable(result$).toBe("-----a---xc|", values);
      expectSubscriptions(work).toBe("-^----!", "-----^----!", "------^----!");
      expectSubscriptions(source).toBe("^---------!");
    }),
  );

  it(
    "never runs more than the limit; keys take turns in the order in which they began to wait",
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const depths: number[] = [];
      const source = hot("-axbp-------|", values);
      const expected = "  -----a---x---b---(p|)";
      const result$ = source.pipe(
        conflateByKey((value) => timer(4, scheduler).pipe(map(() => value)), {
          key,
          limit: 1,
          onDepth: (waiting) => depths.push(waiting),
        }),
      );
      // b waited from frame 2, a's second value from 3, c from 4.
      expectObservable(result$).toBe(expected, values);
      flush();
      expect(depths).toEqual([1, 0, 1, 2, 3, 2, 1, 0]);
    }),
  );

  it(
    "a hung key delays no other key",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const hung = cold(" --------------------");
      const hungSubs = "  -^------!";
      const source = hot("-ax-y---", values);
      const expected = "  ---x-y---";
      const result$ = source.pipe(
        conflateByKey((value) => (key(value) === "a" ? hung : cold("-r|").pipe(map(() => value))), options),
      );
      expectObservable(result$, "--------!").toBe(expected, values);
      expectSubscriptions(hung).toBe(hungSubs);
    }),
  );

  it(
    "passes errors of source, project, key and projection on and stops the rest",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const work = cold("---------r");
      expectObservable(hot("-a-x-#", values).pipe(conflateByKey(() => work, options))).toBe("-----#");
      expectSubscriptions(work).toBe("-^---!", "---^-!");
      const source = hot("-a----", values);
      expectObservable(source.pipe(conflateByKey(() => cold("--#"), options))).toBe("---#");
      expectSubscriptions(source).toBe("^--!");
      const throwing = () => {
        throw "no";
      };
      expectObservable(hot("-a--", values).pipe(conflateByKey(throwing, options))).toBe("-#", {}, "no");
      const keyless = conflateByKey(() => NEVER, { key: throwing, limit: 1 });
      expectObservable(hot("-a--", values).pipe(keyless)).toBe("-#", {}, "no");
    }),
  );

  it(
    "cancels all running projections on unsubscribe and starts none of those waiting",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot("-axp----", values);
      const work = cold(" --------r");
      expectObservable(source.pipe(conflateByKey(() => work, { key, limit: 2 })), "-----!").toBe("------");
      expectSubscriptions(work).toBe("-^---!", "--^--!");
      expectSubscriptions(source).toBe("^----!");
    }),
  );

  it("runs 10,000 keys of a synchronous source with synchronous projections, one at a time", () => {
    const seen: number[] = [];
    range(0, 10_000)
      .pipe(conflateByKey((n) => of(n), { key: (n) => n, limit: 1 }))
      .subscribe({ next: (n) => seen.push(n) });
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  });

  it("loops through 10,000 keys that waited for one slow projection", () => {
    const gate = new Subject<number>();
    const source = new Subject<number>();
    const seen: number[] = [];
    source
      .pipe(conflateByKey((n) => (n === 0 ? gate.pipe(take(1)) : of(n)), { key: (n) => n, limit: 1 }))
      .subscribe({ next: (n) => seen.push(n) });
    for (let n = 0; n <= 10_000; n += 1) source.next(n);
    gate.next(0);
    expect(seen.length).toBe(10_001);
  });

  it("takes a value of its own key that arrives from inside a projection", () => {
    const source = new Subject<number>();
    const seen: number[] = [];
    source.pipe(conflateByKey((n) => of(n), { key: () => "one", limit: 1 })).subscribe({
      next: (n) => {
        seen.push(n);
        if (n < 10_000) source.next(n + 1);
      },
    });
    source.next(1);
    expect(seen.length).toBe(10_000);
  });

  it("stops a synchronous projection half-way when downstream had enough", () => {
    const pulled: number[] = [];
    of("a1")
      .pipe(
        conflateByKey(() => range(0, 1_000).pipe(tap((n) => pulled.push(n))), options),
        take(2),
      )
      .subscribe({ next: () => {} });
    expect(pulled).toEqual([0, 1]);
  });
});
