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
      const triggers$ = hot("-t-tt-----t----");
      const run = cold("      ---x|");
      const result$ = reconcile({ triggers$, run: () => run, wakeAfterMs: neverWakes, clock });
      expectObservable(result$, "---------------!").toBe("----x---x----x-");
      expectSubscriptions(run).toBe("-^---!", "-----^---!", "----------^---!");
      expectSubscriptions(triggers$).toBe("^--------------!");
    }),
  );

  it(
    "wakes after the requested delay, counted from the end of the run",
    marbles(({ hot, clock, expectObservable }) => {
      const waits = [4, 2, undefined];
      const run = numberedRuns(clock, 2);
      const result$ = reconcile({ triggers$: hot("-t"), run, wakeAfterMs: () => waits.shift(), clock });
      expectObservable(result$, "--------------------!").toBe("---1-----2---3-------");
    }),
  );

  it(
    "computes the wake-up once after a run, also after a synchronous run",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const asked: number[] = [];
      const wakeAfterMs = () => {
        asked.push(clock.monotonicMs());
        return 3;
      };
      const result$ = reconcile({ triggers$: hot("-t"), run: () => of("x"), wakeAfterMs, clock });
      expectObservable(result$, "--------!").toBe("-x--x--x");
      flush();
      expect(asked).toEqual([1, 4, 7]);
    }),
  );

  it(
    "computes the wake-up after each run: a trigger replaces the pending one",
    marbles(({ hot, clock, expectObservable }) => {
      const waits = [10, 10, undefined];
      const run = numberedRuns(clock, 1);
      const result$ = reconcile({ triggers$: hot("-t-----t"), run, wakeAfterMs: () => waits.shift(), clock });
      expectObservable(result$, "24ms !").toBe("--1-----2 10ms 3----");
    }),
  );

  it(
    "runs once when the trigger comes in the very frame of the wake-up",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const waits = [5, undefined];
      const run = cold("x|");
      const triggers$ = hot("-t-----t----");
      expectObservable(
        reconcile({ triggers$, run: () => run, wakeAfterMs: () => waits.shift(), clock }),
        "11ms !",
      ).toBe("-x-----x---");
      expectSubscriptions(run).toBe("-^!", "-------^!");
    }),
  );

  it(
    "completes when the triggers have and the last run has ended, the pending one included",
    marbles(({ hot, cold, clock, expectObservable }) => {
      const run = cold("---x|");
      const soon = { run: () => run, wakeAfterMs: () => 1, clock };
      expectObservable(reconcile({ triggers$: hot("-t-t|"), ...soon })).toBe("----x---x|");
      expectObservable(
        reconcile({ triggers$: hot("-t------|"), run: () => EMPTY, wakeAfterMs: () => 100, clock }),
      ).toBe("--------|");
      expectObservable(reconcile({ triggers$: hot("---|"), ...soon })).toBe("---|");
    }),
  );

  it(
    "passes errors of the triggers, the run and the wake-up on and stops everything else",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const run = cold("x------|");
      expectObservable(reconcile({ triggers$: hot("-t-#"), run: () => run, wakeAfterMs: neverWakes, clock })).toBe(
        "-x-#",
      );
      expectSubscriptions(run).toBe("-^-!");
      const triggers$ = hot("-t----");
      expectObservable(reconcile({ triggers$, run: () => cold("x-#"), wakeAfterMs: neverWakes, clock })).toBe("-x-#");
      expectSubscriptions(triggers$).toBe("^--!");
      const throwing = () => {
        throw "no";
      };
      const thrown$ = reconcile({ triggers$: hot("-t--"), run: throwing, wakeAfterMs: neverWakes, clock });
      expectObservable(thrown$).toBe("-#", {}, "no");
      const sleepless$ = reconcile({ triggers$: hot("-t--"), run: () => cold("x|"), wakeAfterMs: throwing, clock });
      expectObservable(sleepless$).toBe("-x#", { x: "x" }, "no");
    }),
  );

  it(
    "cancels the run and the pending wake-up on unsubscribe",
    marbles(({ hot, cold, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const triggers$ = hot("-t----");
      const run = cold("-----x|");
      const result$ = reconcile({ triggers$, run: () => run, wakeAfterMs: neverWakes, clock });
      expectObservable(result$, "---!").toBe("----");
      expectSubscriptions(triggers$).toBe("^--!");
      expectSubscriptions(run).toBe("-^-!");
      const idle$ = reconcile({ triggers$: hot("-t----"), run: () => EMPTY, wakeAfterMs: () => 1_000, clock });
      expectObservable(idle$, "---!").toBe("----");
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
      const burst$ = merge(range(0, 1_000), NEVER);
      const result$ = reconcile({ triggers$: burst$, run: numberedRuns(clock, 3), wakeAfterMs: neverWakes, clock });
      expectObservable(result$, "---------!").toBe("---1--2--");
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
