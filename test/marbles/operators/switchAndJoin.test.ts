import { concat, concatMap, map, NEVER, Observable, of, range, Subject, takeUntil, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/ports/clock.ts";
import { switchAndJoin } from "../../../src/operators/switchAndJoin.ts";
import { marbles } from "../../support/marbles.ts";

/** Emits `phase` every 2 ms; once stopped, `phase` in upper case after `slowness` ms, then completes. */
function phaseWork(clock: Clock, phase: string, stop: AbortSignal, slowness: number): Observable<string> {
  const stopped$ = new Observable<void>((subscriber) => {
    stop.addEventListener("abort", () => subscriber.next(), { once: true });
  });
  const working$ = timer(0, 2, clock.scheduler).pipe(
    map(() => phase),
    takeUntil(stopped$),
  );
  return concat(working$, timer(slowness, clock.scheduler).pipe(map(() => phase.toUpperCase())));
}

describe("switchAndJoin", () => {
  it(
    "aborts the running phase, lets its values flow, and starts the next when it completed",
    marbles(({ hot, clock, expectObservable, expectSubscriptions }) => {
      const phases = "    -a----b------";
      const phasesSubs = "^---------!";
      const unsub = "     ----------!";
      const expected = "  -a-a-a---(Ab)";

      const phases$ = hot(phases);
      const result$ = phases$.pipe(
        switchAndJoin({ run: (p, stop) => phaseWork(clock, p, stop, 3), joinDeadlineMs: 100, clock }),
      );
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(phases$).toBe(phasesSubs);
    }),
  );

  it(
    "never lets two phases overlap and runs only the newest of those that came during the join",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const phases = "         -a--bcd-------|";
      const inner = "          -----x--|";
      const firstInnerSubs = " -^-------!";
      const secondInnerSubs = "---------^-------!";
      const expected = "       ------x-------x--|";

      const started: string[] = [];
      const phases$ = hot(phases);
      const inner$ = cold(inner);
      const result$ = phases$.pipe(
        switchAndJoin({
          run: (p) => {
            started.push(p);
            return inner$;
          },
          joinDeadlineMs: 20,
          clock,
        }),
      );
      expectObservable(result$).toBe(expected);
      expectSubscriptions(inner$).toBe(firstInnerSubs, secondInnerSubs);
      flush();
      expect(started).toEqual(["a", "d"]);
    }),
  );

  it(
    "unsubscribes a phase that outlives the join deadline and counts it as leaked",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const phases = "   -a-b-----|";
      const stuck = "    ------------------x";
      const stuckSubs = "-^-----!";
      const fine = "     x|";
      const expected = " -------x-|";

      const leaked: string[] = [];
      const phases$ = hot(phases);
      const stuck$ = cold(stuck);
      const fine$ = cold(fine);
      const result$ = phases$.pipe(
        switchAndJoin({
          run: (p) => (p === "a" ? stuck$ : fine$),
          joinDeadlineMs: 4,
          clock,
          onLeak: (p) => leaked.push(p),
        }),
      );
      expectObservable(result$).toBe(expected);
      expectSubscriptions(stuck$).toBe(stuckSubs);
      flush();
      expect(leaked).toEqual(["a"]);
    }),
  );

  it(
    "neither aborts the running phase nor counts it as leaked when the source completes",
    marbles(({ hot, cold, clock, expectObservable, flush }) => {
      const phases = "  -a|";
      const inner = "   ----x|";
      const expected = "-----x|";

      const leaked: string[] = [];
      const aborted: string[] = [];
      const result$ = hot(phases).pipe(
        switchAndJoin({
          run: (p, stop) => {
            stop.addEventListener("abort", () => aborted.push(p));
            return cold(inner);
          },
          joinDeadlineMs: 2,
          clock,
          onLeak: (p) => leaked.push(p),
        }),
      );
      expectObservable(result$).toBe(expected);
      flush();
      expect({ leaked, aborted }).toEqual({ leaked: [], aborted: [] });
    }),
  );

  it(
    "continues at once when the aborted phase completes synchronously",
    marbles(({ hot, clock, expectObservable }) => {
      const source = "  -a-b-c-";
      const unsub = "   -------!";
      const expected = "-a-b-c--";

      const obedient = (p: string, stop: AbortSignal) =>
        new Observable<string>((subscriber) => {
          subscriber.next(p);
          stop.addEventListener("abort", () => subscriber.complete());
        });
      const result$ = hot(source).pipe(switchAndJoin({ run: obedient, joinDeadlineMs: 5, clock }));
      expectObservable(result$, unsub).toBe(expected);
    }),
  );

  it(
    "switches only when the key changes, and runs the newest value of the waiting key",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const source = "         -a-b-cd----|";
      const inner = "          ------|";
      const firstInnerSubs = " -^-----!";
      const secondInnerSubs = "-------^-----!";
      const expected = "       -------------|";

      const started: string[] = [];
      const values = { a: "a1", b: "a2", c: "b1", d: "b2" };
      const inner$ = cold(inner);
      const result$ = hot(source, values).pipe(
        switchAndJoin({
          key: (p) => p.slice(0, 1),
          run: (p) => {
            started.push(p);
            return inner$;
          },
          joinDeadlineMs: 20,
          clock,
        }),
      );
      expectObservable(result$).toBe(expected);
      expectSubscriptions(inner$).toBe(firstInnerSubs, secondInnerSubs);
      flush();
      expect(started).toEqual(["a1", "b2"]);
    }),
  );

  it(
    "passes the source's error on and stops the running phase",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const phases = "   -a--#";
      const inner = "    ------|";
      const innerSubs = "-^--!";
      const expected = " ----#";

      const inner$ = cold(inner);
      const result$ = hot(phases).pipe(switchAndJoin({ run: () => inner$, joinDeadlineMs: 5, clock }));
      expectObservable(result$).toBe(expected);
      expectSubscriptions(inner$).toBe(innerSubs);
    }),
  );

  it(
    "passes a phase's error on",
    marbles(({ hot, cold, clock, expectObservable }) => {
      const phases = "  -a---";
      const inner = "   -#";
      const expected = "--#";

      const result$ = hot(phases).pipe(switchAndJoin({ run: () => cold(inner), joinDeadlineMs: 5, clock }));
      expectObservable(result$).toBe(expected);
    }),
  );

  it(
    "aborts and unsubscribes the running phase on unsubscribe, also during a join",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const source = "   -a-b-";
      const inner = "    ----------|";
      const innerSubs = "-^---!";
      const unsub = "    -----!";
      const expected = " ------";

      const aborted: string[] = [];
      const inner$ = cold(inner);
      const result$ = hot(source).pipe(
        switchAndJoin({
          run: (p, stop) => {
            stop.addEventListener("abort", () => aborted.push(p));
            return inner$;
          },
          joinDeadlineMs: 50,
          clock,
        }),
      );
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(inner$).toBe(innerSubs);
      flush();
      expect(aborted).toEqual(["a"]);
    }),
  );

  it(
    "runs 10,000 synchronous phases in a loop",
    marbles(({ clock }) => {
      const seen: number[] = [];
      range(0, 10_000)
        .pipe(switchAndJoin({ run: (n) => of(n), joinDeadlineMs: 1, clock }))
        .subscribe({ next: (n) => seen.push(n) });
      expect(seen.length).toBe(10_000);
    }),
  );

  it(
    "accepts a re-entrant phase from the running one",
    marbles(({ clock }) => {
      const phases = new Subject<number>();
      const seen: number[] = [];
      phases
        .pipe(switchAndJoin({ run: (n) => (n < 10_000 ? of(n) : concat(of(n), NEVER)), joinDeadlineMs: 1, clock }))
        .subscribe({
          next: (n) => {
            seen.push(n);
            if (n < 10_000) phases.next(n + 1);
          },
        });
      phases.next(1);
      expect(seen.length).toBe(10_000);
    }),
  );

  it(
    "lets a phase end exactly at the join deadline",
    marbles(({ hot, clock, scheduler, expectObservable, flush }) => {
      const source = "  -a-b------|";
      const expected = "------a----(b|)";

      const leaked: string[] = [];
      const result$ = hot(source).pipe(
        concatMap((p) => of(p)),
        switchAndJoin({
          run: (p) => timer(5, scheduler).pipe(map(() => p)),
          joinDeadlineMs: 3,
          clock,
          onLeak: (p) => leaked.push(p),
        }),
      );
      expectObservable(result$).toBe(expected);
      flush();
      expect(leaked).toEqual([]);
    }),
  );
});
