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
      const restarts: SourceRestart[] = [];
      const source = cold("a#", undefined, away);
      const alive$ = supervise("s", () => source, {
        backoff,
        clock,
        rng: fixedRng(),
        onRestart: (r) => restarts.push(r),
      });
      expectObservable(alive$, "--------------------------------!").toBe("a--a----a--------a--------a------");
      expectSubscriptions(source).toBe(
        "^!",
        "---^!",
        "--------^!",
        "-----------------^!",
        "--------------------------^!",
      );
      flush();
      expect(restarts.map((r) => r.delayMs)).toEqual([2, 4, 8, 8, 8]);
      expect(restarts[0]).toEqual({ error: away, delayMs: 2 });
    }),
  );

  it(
    "resets the backoff after a long run",
    marbles(({ cold, clock, expectObservable, flush }) => {
      const delays: number[] = [];
      const runs = [cold("#"), cold("#"), cold("20ms #"), cold("19ms #"), cold("---x")];
      const alive$ = supervise("s", () => runs.shift() ?? NEVER, {
        backoff,
        clock,
        rng: fixedRng(),
        onRestart: (r) => delays.push(r.delayMs),
      });
      expectObservable(alive$, "56ms !").toBe("54ms x--");
      flush();
      expect(delays).toEqual([2, 4, 2, 4]);
    }),
  );

  it(
    "reports health: the problem after a failure, none at the first value or after a long quiet run",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      const health: (readonly [number, unknown])[] = [];
      const runs = [cold("-#", undefined, away), cold("--x-|"), NEVER];
      const alive$ = supervise("s", () => runs.shift() ?? NEVER, {
        backoff,
        clock,
        rng: fixedRng(),
        onHealth: (problem) => health.push([scheduler.now(), problem]),
      });
      expectObservable(alive$, "40ms !").toBe("-----x");
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
      const delays: number[] = [];
      const alive$ = supervise("s", () => EMPTY, {
        backoff: { initialMs: 10, maxMs: 40, jitter: 0.5, resetAfterMs: 1000 },
        clock,
        rng: fixedRng(0.5),
        onRestart: (r) => delays.push(r.delayMs),
      });
      expectObservable(alive$, "100ms !").toBe("-");
      flush();
      expect(delays).toEqual([13, 25, 50, 50]);
    }),
  );

  it(
    "lets a broken invariant through: it is fatal",
    marbles(({ clock, expectObservable }) => {
      const broken = new InvariantError("two live containers");
      const throwing = (): Observable<never> => {
        throw broken;
      };
      expectObservable(supervise("s", throwing, { backoff, clock, rng: fixedRng() })).toBe("#", undefined, broken);
    }),
  );

  it(
    "treats a throwing factory as a failure",
    marbles(({ clock, expectObservable, flush }) => {
      let tries = 0;
      const flaky = () => {
        tries += 1;
        if (tries === 1) throw new Error("no such file");
        return NEVER;
      };
      const problems: unknown[] = [];
      const alive$ = supervise("s", flaky, { backoff, clock, rng: fixedRng(), onHealth: (p) => problems.push(p) });
      expectObservable(alive$, "-------!").toBe("--------");
      flush();
      expect(problems).toEqual([kubeletError("Unknown", "no such file", { cause: new Error("no such file") })]);
    }),
  );

  it(
    "stops run and wait on unsubscribe",
    marbles(({ cold, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const source = cold("-a------");
      expectObservable(
        supervise("s", () => source, { backoff, clock, rng: fixedRng() }),
        "---!",
      ).toBe("-a--");
      expectSubscriptions(source).toBe("^--!");
      expectObservable(
        supervise("s", () => EMPTY, { backoff, clock, rng: fixedRng() }),
        "-!",
      ).toBe("--");
      flush();
      expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 3, left: 0 });
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
