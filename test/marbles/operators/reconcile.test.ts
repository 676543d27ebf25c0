import { EMPTY, map, merge, NEVER, type Observable, of, range, Subject, take, tap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/ports/clock.ts";
import { reconcile } from "../../../src/operators/reconcile.ts";
import { marbles } from "../../support/marbles.ts";

const neverWakes = () => undefined;

/** A run that emits its number after `ms` and completes. */
function numberedRuns(clock: Clock, ms: number): () => Observable<string> {
  let runs = 0;
  return () => {
    runs += 1;
    const name = String(runs);
    return timer(ms, clock.scheduler).pipe(map(() => name));
  };
}

describe("reconcile", () => {
  it(
    "runs once per trigger, and once more for all triggers that came during a run",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const triggers = "     -t-tt-----t----";
      const triggersSubs = " ^--------------!";
      const run = "          ---x|";
      const firstRunSubs = " -^---!";
      const secondRunSubs = "-----^---!";
      const thirdRunSubs = " ----------^---!";
      const unsub = "        ---------------!";
      const expected = "     ----x---x----x-";

      const triggers$ = hot(triggers);
      const run$ = cold(run);
      const result$ = reconcile({ triggers$, run: () => run$, wakeAfterMs: neverWakes, clock });
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(run$).toBe(firstRunSubs, secondRunSubs, thirdRunSubs);
      expectSubscriptions(triggers$).toBe(triggersSubs);
    }),
  );

  it(
    "wakes after the requested delay, counted from the end of the run",
    marbles(({ hot, clock, expectObservable }) => {
      const triggers = "-t";
      const unsub = "   --------------------!";
      const expected = "---1-----2---3-------";

      const waits = [4, 2, undefined];
      const run = numberedRuns(clock, 2);
      const result$ = reconcile({ triggers$: hot(triggers), run, wakeAfterMs: () => waits.shift(), clock });
      expectObservable(result$, unsub).toBe(expected);
    }),
  );

  it(
    "computes the wake-up once after a run, also after a synchronous run",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const triggers = "-t";
      const unsub = "   --------!";
      const expected = "-x--x--x";

      const asked: number[] = [];
      const wakeAfterMs = () => {
        asked.push(clock.monotonicMs());
        return 3;
      };
      const result$ = reconcile({ triggers$: hot(triggers), run: () => of("x"), wakeAfterMs, clock });
      expectObservable(result$, unsub).toBe(expected);
      flush();
      expect(asked).toEqual([1, 4, 7]);
    }),
  );

  it(
    "computes the wake-up after each run: a trigger replaces the pending one",
    marbles(({ hot, clock, expectObservable }) => {
      const triggers = "-t-----t";
      const unsub = "   24ms !";
      const expected = "--1-----2 10ms 3----";

      const waits = [10, 10, undefined];
      const run = numberedRuns(clock, 1);
      const result$ = reconcile({ triggers$: hot(triggers), run, wakeAfterMs: () => waits.shift(), clock });
      expectObservable(result$, unsub).toBe(expected);
    }),
  );

  it(
    "runs once when the trigger comes in the very frame of the wake-up",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const triggers = "     -t-----t----";
      const run = "          x|";
      const firstRunSubs = " -^!";
      const secondRunSubs = "-------^!";
      const unsub = "        11ms !";
      const expected = "     -x-----x---";

      const waits = [5, undefined];
      const run$ = cold(run);
      const triggers$ = hot(triggers);
      expectObservable(reconcile({ triggers$, run: () => run$, wakeAfterMs: () => waits.shift(), clock }), unsub).toBe(
        expected,
      );
      expectSubscriptions(run$).toBe(firstRunSubs, secondRunSubs);
    }),
  );

  it(
    "completes after the last run when the triggers have completed, the pending run included",
    marbles(({ hot, cold, clock, expectObservable }) => {
      const triggers = "-t-t|";
      const run = "     ---x|";
      const expected = "----x---x|";

      const result$ = reconcile({ triggers$: hot(triggers), run: () => cold(run), wakeAfterMs: () => 1, clock });
      expectObservable(result$).toBe(expected);
    }),
  );

  it(
    "completes with the triggers while it waits for a wake-up",
    marbles(({ hot, clock, expectObservable }) => {
      const triggers = "-t------|";
      const expected = "--------|";

      const result$ = reconcile({ triggers$: hot(triggers), run: () => EMPTY, wakeAfterMs: () => 100, clock });
      expectObservable(result$).toBe(expected);
    }),
  );

  it(
    "completes with triggers that never emitted",
    marbles(({ hot, cold, clock, expectObservable }) => {
      const triggers = "---|";
      const run = "     ---x|";
      const expected = "---|";

      const result$ = reconcile({ triggers$: hot(triggers), run: () => cold(run), wakeAfterMs: () => 1, clock });
      expectObservable(result$).toBe(expected);
    }),
  );

  it(
    "passes an error of the triggers on and cancels the run",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const triggers = "-t-#";
      const run = "     x------|";
      const runSubs = " -^-!";
      const expected = "-x-#";

      const run$ = cold(run);
      const result$ = reconcile({ triggers$: hot(triggers), run: () => run$, wakeAfterMs: neverWakes, clock });
      expectObservable(result$).toBe(expected);
      expectSubscriptions(run$).toBe(runSubs);
    }),
  );

  it(
    "passes an error of the run on and unsubscribes from the triggers",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const triggers = "    -t----";
      const triggersSubs = "^--!";
      const run = "         x-#";
      const expected = "    -x-#";

      const triggers$ = hot(triggers);
      expectObservable(reconcile({ triggers$, run: () => cold(run), wakeAfterMs: neverWakes, clock })).toBe(expected);
      expectSubscriptions(triggers$).toBe(triggersSubs);
    }),
  );

  it(
    "passes on what run throws",
    marbles(({ hot, clock, expectObservable }) => {
      const triggers = "-t--";
      const expected = "-#";

      const run = () => {
        throw "no";
      };
      const result$ = reconcile({ triggers$: hot(triggers), run, wakeAfterMs: neverWakes, clock });
      expectObservable(result$).toBe(expected, {}, "no");
    }),
  );

  it(
    "passes on what wakeAfterMs throws",
    marbles(({ hot, cold, clock, expectObservable }) => {
      const triggers = "-t--";
      const run = "     x|";
      const expected = "-x#";

      const wakeAfterMs = () => {
        throw "no";
      };
      const result$ = reconcile({ triggers$: hot(triggers), run: () => cold(run), wakeAfterMs, clock });
      expectObservable(result$).toBe(expected, { x: "x" }, "no");
    }),
  );

  it(
    "cancels the run on unsubscribe",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const triggers = "    -t----";
      const triggersSubs = "^--!";
      const run = "         -----x|";
      const runSubs = "     -^-!";
      const unsub = "       ---!";
      const expected = "    ----";

      const triggers$ = hot(triggers);
      const run$ = cold(run);
      const result$ = reconcile({ triggers$, run: () => run$, wakeAfterMs: neverWakes, clock });
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(triggers$).toBe(triggersSubs);
      expectSubscriptions(run$).toBe(runSubs);
    }),
  );

  it(
    "cancels the pending wake-up on unsubscribe",
    marbles(({ hot, clock, scheduler, expectObservable, flush }) => {
      const triggers = "-t----";
      const unsub = "   ---!";
      const expected = "----";

      const result$ = reconcile({ triggers$: hot(triggers), run: () => EMPTY, wakeAfterMs: () => 1_000, clock });
      expectObservable(result$, unsub).toBe(expected);
      flush();
      expect({ frame: scheduler.frame, left: scheduler.actions.length }).toEqual({ frame: 3, left: 0 });
    }),
  );

  it(
    "runs again for a trigger that its own synchronous run set off, in a loop",
    marbles(({ clock }) => {
      const again = new Subject<void>();
      let runs = 0;
      const run = () => {
        runs += 1;
        return of(runs);
      };
      reconcile({ triggers$: again, run, wakeAfterMs: neverWakes, clock })
        .pipe(take(10_000))
        .subscribe({ next: () => again.next() });
      again.next();
      expect(runs).toBe(10_000);
    }),
  );

  it(
    "runs twice for a burst of synchronous triggers: for the first, and for all that came while it ran",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   ---------!";
      const expected = "---1--2--";

      const burst$ = merge(range(0, 1_000), NEVER);
      const result$ = reconcile({ triggers$: burst$, run: numberedRuns(clock, 3), wakeAfterMs: neverWakes, clock });
      expectObservable(result$, unsub).toBe(expected);
    }),
  );

  it(
    "stops a synchronous run half-way when downstream had enough",
    marbles(({ clock }) => {
      const pulled: number[] = [];
      const run = () => range(0, 1_000).pipe(tap((n) => pulled.push(n)));
      reconcile({ triggers$: merge(of("t"), NEVER), run, wakeAfterMs: neverWakes, clock })
        .pipe(take(2))
        .subscribe({ next: () => {} });
      expect(pulled).toEqual([0, 1]);
    }),
  );
});
