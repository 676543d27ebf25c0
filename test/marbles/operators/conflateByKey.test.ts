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
      const source = "        -abc-x----|";
      const sourceSubs = "    ^---------!";
      const work = "          ----r|";
      const firstWorkSubs = " -^----!";
      const secondWorkSubs = "-----^----!";
      const thirdWorkSubs = " ------^----!";
      const expected = "      -----a---xc|";

      const source$ = hot(source, values);
      const work$ = cold(work);
      const result$ = source$.pipe(conflateByKey((value) => work$.pipe(map(() => value)), options));
      expectObservable(result$).toBe(expected, values);
      expectSubscriptions(work$).toBe(firstWorkSubs, secondWorkSubs, thirdWorkSubs);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it(
    "runs waiting keys in the order in which they began to wait, never more than the limit",
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const source = "  -axbp-------|";
      const expected = "-----a---x---b---(p|)";

      const depths: number[] = [];
      const source$ = hot(source, values);
      const result$ = source$.pipe(
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
    "delays no other key when one hangs",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "  -ax-y---";
      const hung = "    --------------------";
      const hungSubs = "-^------!";
      const inner = "   -r|";
      const unsub = "   --------!";
      const expected = "---x-y---";

      const hung$ = cold(hung);
      const source$ = hot(source, values);
      const result$ = source$.pipe(
        conflateByKey((value) => (key(value) === "a" ? hung$ : cold(inner).pipe(map(() => value))), options),
      );
      expectObservable(result$, unsub).toBe(expected, values);
      expectSubscriptions(hung$).toBe(hungSubs);
    }),
  );

  it(
    "passes the source's error on and stops the running projections",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "        -a-x-#";
      const work = "          ---------r";
      const firstWorkSubs = " -^---!";
      const secondWorkSubs = "---^-!";
      const expected = "      -----#";

      const work$ = cold(work);
      expectObservable(hot(source, values).pipe(conflateByKey(() => work$, options))).toBe(expected);
      expectSubscriptions(work$).toBe(firstWorkSubs, secondWorkSubs);
    }),
  );

  it(
    "passes a projection's error on and unsubscribes from the source",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "    -a----";
      const sourceSubs = "^--!";
      const work = "      --#";
      const expected = "  ---#";

      const source$ = hot(source, values);
      expectObservable(source$.pipe(conflateByKey(() => cold(work), options))).toBe(expected);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  const throwing = () => {
    throw "no";
  };
  it.each([
    ["project", conflateByKey(throwing, options)],
    ["key", conflateByKey(() => NEVER, { key: throwing, limit: 1 })],
  ])("passes on what %s throws", (_name, operator) => {
    marbles(({ hot, expectObservable }) => {
      const source = "  -a--";
      const expected = "-#";

      expectObservable(hot(source, values).pipe(operator)).toBe(expected, {}, "no");
    })();
  });

  it(
    "cancels all running projections on unsubscribe, and starts no waiting one",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "        -axp----";
      const sourceSubs = "    ^----!";
      const work = "          --------r";
      const firstWorkSubs = " -^---!";
      const secondWorkSubs = "--^--!";
      const unsub = "         -----!";
      const expected = "      ------";

      const source$ = hot(source, values);
      const work$ = cold(work);
      expectObservable(source$.pipe(conflateByKey(() => work$, { key, limit: 2 })), unsub).toBe(expected);
      expectSubscriptions(work$).toBe(firstWorkSubs, secondWorkSubs);
      expectSubscriptions(source$).toBe(sourceSubs);
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
