import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { MAX_TIMER_MS } from "../../../src/operators/alarm.ts";
import { longTimer } from "../../../src/operators/longTimer.ts";
import { marbles } from "../../support/marbles.ts";

const DAY_MS = 86_400_000;

describe("longTimer", () => {
  it(
    "fires once after its time",
    marbles(({ clock, expectObservable }) => {
      const expected = "---(x|)";

      expectObservable(longTimer(clock, 3).pipe(map(() => "x"))).toBe(expected);
    }),
  );

  it.each([0, -5])("fires at once for a delay of %d ms", (ms) => {
    marbles(({ clock, expectObservable }) => {
      const subscription = "-^";
      const expected = "    -(x|)";

      expectObservable(longTimer(clock, ms).pipe(map(() => "x")), subscription).toBe(expected);
    })();
  });

  it(
    "never exceeds the scheduler's longest delay, and is exact over months",
    marbles(({ clock, scheduler, at, expectObservable, flush }) => {
      const lookAt = [1, 30, 60, 90].map((day) => day * DAY_MS);
      const hops: number[] = [];
      for (const ms of lookAt) {
        at(ms, () => {
          const dues = scheduler.actions.map((action) => action.delay).filter((due) => !lookAt.includes(due));
          hops.push(...dues.map((due) => due / MAX_TIMER_MS));
        });
      }
      expectObservable(longTimer(clock, 100 * DAY_MS).pipe(map(() => "x"))).toBe(`${100 * DAY_MS}ms (x|)`);
      flush();
      expect(hops).toEqual([1, 2, 3, 4]);
    }),
  );

  it(
    "stops on unsubscribe, also in a later hop",
    marbles(({ clock, scheduler, at, flush }) => {
      let fired = 0;
      const running = longTimer(clock, 60 * DAY_MS).subscribe({ next: () => (fired += 1) });
      at(40 * DAY_MS, () => running.unsubscribe());
      flush();
      expect({ fired, left: scheduler.actions.length }).toEqual({ fired: 0, left: 0 });
    }),
  );

  it(
    "never fires for an infinite delay",
    marbles(({ clock, expectObservable }) => {
      const expected = "-";

      expectObservable(longTimer(clock, Infinity), `${400 * DAY_MS}ms !`).toBe(expected);
    }),
  );
});
