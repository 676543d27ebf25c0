import { concat, EMPTY, map, of, range, Subject, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { conflateMap } from "../../../src/operators/conflateMap.ts";
import { marbles } from "../../support/marbles.ts";

describe("conflateMap", () => {
  it(
    "runs one inner at a time, keeps the newest value meanwhile and never cancels",
    marbles(({ hot, cold, expectObservable, expectSubscriptions, flush }) => {
      const source = "         -a-bc----d---|";
      const sourceSubs = "     ^------------!";
      const inner = "          ---(x|)";
      const firstInnerSubs = " -^--!";
      const secondInnerSubs = "----^--!";
      const thirdInnerSubs = " ---------^--!";
      const expected = "       ----k--l----m|";

      const dropped: string[] = [];
      const source$ = hot(source);
      const inner$ = cold(inner);
      const result$ = source$.pipe(
        conflateMap(
          (value) => inner$.pipe(map((x) => value + x)),
          (value) => dropped.push(value),
        ),
      );
      expectObservable(result$).toBe(expected, { k: "ax", l: "cx", m: "dx" });
      expectSubscriptions(inner$).toBe(firstInnerSubs, secondInnerSubs, thirdInnerSubs);
      expectSubscriptions(source$).toBe(sourceSubs);
      flush();
      expect(dropped).toEqual(["b"]);
    }),
  );

  it(
    "completes only after the waiting value ran",
    marbles(({ hot, cold, expectObservable }) => {
      const source = "  -ab|";
      const inner = "   ---x|";
      const expected = "----x---x|";

      const source$ = hot(source);
      const inner$ = cold(inner);
      expectObservable(source$.pipe(conflateMap(() => inner$))).toBe(expected);
    }),
  );

  it(
    "passes the source's error on and stops the inner",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "   -a--#";
      const inner = "    x------|";
      const innerSubs = "-^--!";
      const expected = " -x--#";

      const source$ = hot(source);
      const inner$ = cold(inner);
      expectObservable(source$.pipe(conflateMap(() => inner$))).toBe(expected);
      expectSubscriptions(inner$).toBe(innerSubs);
    }),
  );

  it(
    "passes an inner's error on",
    marbles(({ hot, cold, expectObservable }) => {
      const source = "  -a--|";
      const inner = "   x-#";
      const expected = "-x-#";

      expectObservable(hot(source).pipe(conflateMap(() => cold(inner)))).toBe(expected);
    }),
  );

  it(
    "passes on what project throws",
    marbles(({ hot, expectObservable }) => {
      const source = "  -a--|";
      const expected = "-#";

      const throwing = () => {
        throw "no";
      };
      expectObservable(hot(source).pipe(conflateMap(throwing))).toBe(expected, {}, "no");
    }),
  );

  it(
    "stops source and inner on unsubscribe",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "    -a-b---";
      const sourceSubs = "^---!";
      const inner = "     --------x";
      const innerSubs = " -^--!";
      const unsub = "     ----!";
      const expected = "  -----";

      const source$ = hot(source);
      const inner$ = cold(inner);
      expectObservable(source$.pipe(conflateMap(() => inner$)), unsub).toBe(expected);
      expectSubscriptions(source$).toBe(sourceSubs);
      expectSubscriptions(inner$).toBe(innerSubs);
    }),
  );

  it("runs every value of a synchronous source whose inners are synchronous", () => {
    const seen: number[] = [];
    range(0, 10_000)
      .pipe(conflateMap((n) => of(n)))
      .subscribe({ next: (n) => seen.push(n) });
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  });

  it("loops when each inner asks for the next one re-entrantly", () => {
    const again = new Subject<number>();
    let last = 0;
    again.pipe(conflateMap((n) => of(n))).subscribe({
      next: (n) => {
        last = n;
        if (n < 10_000) again.next(n + 1);
      },
    });
    again.next(1);
    expect(last).toBe(10_000);
  });

  it("stops a synchronous inner when downstream had enough", () => {
    const pulled: number[] = [];
    const endless = range(0, 1_000).pipe(map((n) => (pulled.push(n), n)));
    concat(of("a"), EMPTY)
      .pipe(
        conflateMap(() => endless),
        take(2),
      )
      .subscribe({ next: () => {} });
    expect(pulled).toEqual([0, 1]);
  });

  it(
    "keeps the newest of values arriving in one frame",
    marbles(({ hot, scheduler, expectObservable }) => {
      const source = "  -(abcd)--|";
      const expected = "---a-d---|";

      const source$ = hot(source);
      expectObservable(source$.pipe(conflateMap((v) => timer(2, scheduler).pipe(map(() => v))))).toBe(expected);
    }),
  );
});
