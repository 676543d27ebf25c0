import { EMPTY, NEVER, type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { InvariantError } from "../../../src/core/invariant.ts";
import { type SourceRestart, supervise } from "../../../src/operators/supervise.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { marbles } from "../../support/marbles.ts";

const backoff = { initialMs: 2, maxMs: 8, resetAfterMs: 20 };
const away = kubeletError("Unavailable", "runtime is down");
const ended = kubeletError("Unavailable", "source s ended");

describe("supervise", () => {
  it(
    "starts a source that failed or completed again, with a doubling delay up to its maximum",
    marbles(({ cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const source = "          a#";
      const firstSourceSubs = " ^!";
      const secondSourceSubs = "---^!";
      const thirdSourceSubs = " --------^!";
      const fourthSourceSubs = "-----------------^!";
      const fifthSourceSubs = " --------------------------^!";
      const unsub = "           --------------------------------!";
      const expected = "        a--a----a--------a--------a------";

      const restarts: SourceRestart[] = [];
      const source$ = cold(source, undefined, away);
      const alive$ = supervise("s", () => source$, {
        backoff,
        clock,
        rng: fixedRng(),
        onRestart: (r) => restarts.push(r),
      });
      expectObservable(alive$, unsub).toBe(expected);
      expectSubscriptions(source$).toBe(
        firstSourceSubs,
        secondSourceSubs,
        thirdSourceSubs,
        fourthSourceSubs,
        fifthSourceSubs,
      );
      flush();
      expect(restarts.map((r) => r.delayMs)).toEqual([2, 4, 8, 8, 8]);
      expect(restarts[0]).toEqual({ error: away, delayMs: 2 });
    }),
  );

  it(
    "resets the backoff after a long run",
    marbles(({ cold, clock, expectObservable, flush }) => {
      const failing = " #";
      const longRun = " 20ms #";
      const shortRun = "19ms #";
      const healthy = " ---x";
      const unsub = "   56ms !";
      const expected = "54ms x--";

      const delays: number[] = [];
      const runs = [failing, failing, longRun, shortRun, healthy].map((run) => cold(run));
      const alive$ = supervise("s", () => runs.shift() ?? NEVER, {
        backoff,
        clock,
        rng: fixedRng(),
        onRestart: (r) => delays.push(r.delayMs),
      });
      expectObservable(alive$, unsub).toBe(expected);
      flush();
      expect(delays).toEqual([2, 4, 2, 4]);
    }),
  );

  it(
    "reports the problem after a failure, and health at the first value or after a long quiet run",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      const failing = " -#";
      const ending = "  --x-|";
      const unsub = "   40ms !";
      const expected = "-----x";

      const health: (readonly [number, unknown])[] = [];
      const runs = [cold(failing, undefined, away), cold(ending), NEVER];
      const alive$ = supervise("s", () => runs.shift() ?? NEVER, {
        backoff,
        clock,
        rng: fixedRng(),
        onHealth: (problem) => health.push([scheduler.now(), problem]),
      });
      expectObservable(alive$, unsub).toBe(expected);
      flush();
      expect(health).toEqual([
        [1, away],
        [5, undefined],
        [7, ended],
        [31, undefined],
      ]);
    }),
  );

  it(
    "adds jitter to the delay",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   100ms !";
      const expected = "-";

      const delays: number[] = [];
      const alive$ = supervise("s", () => EMPTY, {
        backoff: { initialMs: 10, maxMs: 40, jitter: 0.5, resetAfterMs: 1000 },
        clock,
        rng: fixedRng(0.5),
        onRestart: (r) => delays.push(r.delayMs),
      });
      expectObservable(alive$, unsub).toBe(expected);
      flush();
      expect(delays).toEqual([13, 25, 50, 50]);
    }),
  );

  it(
    "lets a broken invariant through: it is fatal",
    marbles(({ clock, expectObservable }) => {
      const expected = "#";

      const broken = new InvariantError("two live containers");
      const throwing = (): Observable<never> => {
        throw broken;
      };
      expectObservable(supervise("s", throwing, { backoff, clock, rng: fixedRng() })).toBe(expected, undefined, broken);
    }),
  );

  it(
    "treats a throwing factory as a failure",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   -------!";
      const expected = "--------";

      let tries = 0;
      const flaky = () => {
        tries += 1;
        if (tries === 1) throw new Error("no such file");
        return NEVER;
      };
      const problems: unknown[] = [];
      const alive$ = supervise("s", flaky, { backoff, clock, rng: fixedRng(), onHealth: (p) => problems.push(p) });
      expectObservable(alive$, unsub).toBe(expected);
      flush();
      expect(problems).toEqual([kubeletError("Unknown", "no such file", { cause: new Error("no such file") })]);
    }),
  );

  it(
    "stops the run on unsubscribe",
    marbles(({ cold, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const source = "    -a------";
      const sourceSubs = "^--!";
      const unsub = "     ---!";
      const expected = "  -a--";

      const source$ = cold(source);
      const alive$ = supervise("s", () => source$, { backoff, clock, rng: fixedRng() });
      expectObservable(alive$, unsub).toBe(expected);
      expectSubscriptions(source$).toBe(sourceSubs);
      flush();
      expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 3, left: 0 });
    }),
  );

  it(
    "stops the wait before the next run on unsubscribe",
    marbles(({ clock, scheduler, expectObservable, flush }) => {
      const unsub = "   -!";
      const expected = "--";

      const alive$ = supervise("s", () => EMPTY, { backoff, clock, rng: fixedRng() });
      expectObservable(alive$, unsub).toBe(expected);
      flush();
      expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 1, left: 0 });
    }),
  );

  it(
    "restarts a source that ends synchronously by the timer, not the stack",
    marbles(({ clock, at, flush }) => {
      let runs = 0;
      const alive$ = supervise("s", () => of((runs += 1)), {
        backoff: { initialMs: 1, maxMs: 1, resetAfterMs: 1000 },
        clock,
        rng: fixedRng(),
      });
      const running = alive$.subscribe({ next: () => {} });
      at(9_999.5, () => running.unsubscribe());
      flush();
      expect(runs).toBe(10_000);
    }),
  );
});
