import { concat, EMPTY, finalize, ignoreElements, map, merge, NEVER, type Observable, of, range, Subject } from "rxjs";
import { mergeMap, take, takeUntil, tap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { InvariantError } from "../../../src/core/invariant.ts";
import { keyedWorkers } from "../../../src/operators/keyedWorkers.ts";
import { marbles } from "../../support/marbles.ts";

const firstLetter = (value: string) => value.slice(0, 1);
const values = { a: "a1", b: "b1", c: "a2", d: "a3", e: "b2" };

describe("keyedWorkers", () => {
  it(
    "passes every value to the worker of its key, in order, including the first one",
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = "    -a-b-c-e--|";
      const sourceSubs = "^---------!";
      const expected = "  -a-b-c-e--|";

      const source$ = hot(source, values);
      const result$ = source$.pipe(
        keyedWorkers({ key: firstLetter, worker: (key, v$) => v$.pipe(map((v) => key + v)) }),
      );
      expectObservable(result$).toBe(expected, { a: "aa1", b: "bb1", c: "aa2", e: "bb2" });
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it(
    "forgets a key when its worker completes and starts another for a later value",
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const source = "  -a--b-c---d---|";
      const expected = "---a--b-c---d-|";

      const live: number[] = [];
      const started: string[] = [];
      const result$ = hot(source, values).pipe(
        keyedWorkers({
          key: firstLetter,
          worker: (key, v$) => {
            started.push(key);
            return v$.pipe(
              take(1),
              mergeMap((v) => timer(2, scheduler).pipe(map(() => v))),
            );
          },
          onLive: (n) => live.push(n),
        }),
      );
      expectObservable(result$).toBe(expected, values);
      flush();
      expect(started).toEqual(["a", "b", "a", "a"]);
      expect(live).toEqual([1, 0, 1, 2, 1, 0, 1, 0]);
    }),
  );

  it(
    "keeps values that arrive after the worker stopped listening for the next worker of the key",
    marbles(({ hot, scheduler, expectObservable }) => {
      const source = "  -a-cd-------|";
      const expected = "-----a---c---(d|)";

      const result$ = hot(source, values).pipe(
        keyedWorkers({
          key: firstLetter,
          worker: (_key, v$) =>
            v$.pipe(
              take(1),
              mergeMap((v) => timer(4, scheduler).pipe(map(() => v))),
            ),
        }),
      );
      expectObservable(result$).toBe(expected, values);
    }),
  );

  it(
    "keeps values that arrive before the worker listens, and lets it listen in turns",
    marbles(({ hot, scheduler, expectObservable }) => {
      const source = "  -a-c--d--------|";
      const expected = "-----a---(cd)--|";

      const pause$ = timer(4, scheduler).pipe(ignoreElements());
      const worker = (_key: string, v$: Observable<string>) => concat(pause$, v$.pipe(take(1)), pause$, v$);
      const result$ = hot(source, values).pipe(keyedWorkers({ key: firstLetter, worker }));
      expectObservable(result$).toBe(expected, values);
    }),
  );

  it("loses no value that arrives re-entrantly while a worker completes or is torn down", () => {
    const source = new Subject<string>();
    const stop = new Subject<void>();
    const taken: string[][] = [];
    const worker = (_key: string, v$: Observable<string>) => {
      const mine: string[] = [];
      taken.push(mine);
      // `x$` is torn down, and says more, before v$ is unsubscribed.
      const x$ = NEVER.pipe(finalize(() => taken.length === 1 && source.next("a-from-teardown")));
      return merge(x$, v$.pipe(tap((v) => mine.push(v)))).pipe(takeUntil(stop));
    };
    source.pipe(keyedWorkers({ key: firstLetter, worker })).subscribe({ next: () => {} });
    source.next("a1");
    source.next("a2");
    stop.next();
    source.next("a3");
    expect(taken).toEqual([
      ["a1", "a2"],
      ["a-from-teardown", "a3"],
    ]);
  });

  it("passes on one value at a time when a worker's output feeds the source", () => {
    const source = new Subject<number>();
    const seen: string[] = [];
    const worker = (_key: number, v$: Observable<number>) =>
      v$.pipe(
        tap((n) => seen.push(`+${n}`)),
        tap((n) => {
          if (n < 3) source.next(n + 1);
          seen.push(`-${n}`);
        }),
      );
    source.pipe(keyedWorkers({ key: () => 0, worker })).subscribe({ next: () => {} });
    source.next(1);
    expect(seen).toEqual(["+1", "-1", "+2", "-2", "+3", "-3"]);
  });

  it("loops through 10,000 queued values of one key whose workers take one each", () => {
    const source = new Subject<number>();
    const gate = new Subject<void>();
    const seen: number[] = [];
    const worker = (_key: number, v$: Observable<number>) =>
      concat(seen.length === 0 ? gate.pipe(take(1), ignoreElements()) : EMPTY, v$.pipe(take(1)));
    source.pipe(keyedWorkers({ key: () => 0, worker, queueLimit: 10_000 })).subscribe({ next: (n) => seen.push(n) });
    for (let n = 0; n < 10_000; n += 1) source.next(n);
    gate.next();
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  });

  it("serves a synchronous source of 10,000 keys", () => {
    const live: number[] = [];
    const seen: number[] = [];
    range(0, 10_000)
      .pipe(keyedWorkers({ key: (n) => n, worker: (_key, v$) => v$.pipe(take(1)), onLive: (n) => live.push(n) }))
      .subscribe({ next: (n) => seen.push(n) });
    expect(seen.length).toBe(10_000);
    expect(Math.max(...live)).toBe(1);
  });

  it(
    "drops a key's oldest waiting value beyond its queue limit",
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const source = "  -(acd)-------|";
      const expected = "---------(cd)|";

      const dropped: string[] = [];
      const result$ = hot(source, values).pipe(
        keyedWorkers({
          key: firstLetter,
          worker: (_key, v$) => concat(timer(8, scheduler).pipe(ignoreElements()), v$),
          queueLimit: 2,
          onDrop: (_key, value) => dropped.push(value),
        }),
      );
      expectObservable(result$).toBe(expected, values);
      flush();
      expect(dropped).toEqual(["a1"]);
    }),
  );

  it(
    "passes the source's error on and stops the workers",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "  -b-#";
      const work = "    -------x";
      const workSubs = "-^-!";
      const expected = "---#";

      const work$ = cold(work);
      expectObservable(hot(source).pipe(keyedWorkers({ key: firstLetter, worker: () => work$ }))).toBe(expected);
      expectSubscriptions(work$).toBe(workSubs);
    }),
  );

  it(
    "passes a worker's error on and stops the other workers",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "     -a-b---";
      const failing = "    ---#";
      const healthy = "    -------x";
      const healthySubs = "---^!";
      const expected = "   ----#";

      const failing$ = cold(failing);
      const healthy$ = cold(healthy);
      const result$ = hot(source, values).pipe(
        keyedWorkers({ key: firstLetter, worker: (key) => (key === "a" ? failing$ : healthy$) }),
      );
      expectObservable(result$).toBe(expected);
      expectSubscriptions(healthy$).toBe(healthySubs);
    }),
  );

  const throwing = () => {
    throw "no";
  };
  it.each([
    ["worker", keyedWorkers<string, string, never>({ key: firstLetter, worker: throwing })],
    ["key", keyedWorkers<string, string, never>({ key: throwing, worker: () => NEVER })],
  ])("passes on what %s throws", (_name, operator) => {
    marbles(({ hot, expectObservable }) => {
      const source = "  -a";
      const expected = "-#";

      expectObservable(hot(source).pipe(operator)).toBe(expected, {}, "no");
    })();
  });

  it(
    "unsubscribes source and workers on unsubscribe",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "        -a-b----";
      const sourceSubs = "    ^----!";
      const work = "          -------x";
      const firstWorkSubs = " -^---!";
      const secondWorkSubs = "---^-!";
      const unsub = "         -----!";
      const expected = "      ------";

      const source$ = hot(source, values);
      const work$ = cold(work);
      expectObservable(source$.pipe(keyedWorkers({ key: firstLetter, worker: () => work$ })), unsub).toBe(expected);
      expectSubscriptions(source$).toBe(sourceSubs);
      expectSubscriptions(work$).toBe(firstWorkSubs, secondWorkSubs);
    }),
  );

  it("refuses two subscribers of values$ at the same time", () => {
    let thrown: unknown;
    of("a1")
      .pipe(keyedWorkers({ key: firstLetter, worker: (_key, v$) => merge(v$, v$) }))
      .subscribe({ error: (error: unknown) => (thrown = error) });
    expect(thrown).toEqual(new InvariantError("values$ of key a is subscribed twice at the same time"));
  });
});
