import { map, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { pollAfter } from "../../../src/operators/pollAfter.ts";
import { marbles } from "../../support/marbles.ts";

describe("pollAfter", () => {
  it(
    "starts the next period when the last poll ended",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const poll = cold("x--(y|)");
      expectObservable(
        pollAfter(clock, 5, () => poll),
        "------------------!",
      ).toBe("x--y----x--y----x--");
      expectSubscriptions(poll).toBe("^--!", "--------^--!", "----------------^-!");
    }),
  );

  it(
    "waits a period first without `immediately`",
    marbles(({ clock, expectObservable }) => {
      const stream$ = pollAfter(clock, 4, () => of("x"), { immediately: false });
      expectObservable(stream$, "-----------!").toBe("----x---x---");
    }),
  );

  it(
    "computes the period before every wait",
    marbles(({ clock, expectObservable }) => {
      const periods = [1, 3, 2];
      const stream$ = pollAfter(
        clock,
        () => periods.shift() ?? 50,
        () => of("x"),
      );
      expectObservable(stream$, "---------!").toBe("xx--x-x---");
    }),
  );

  it(
    "never runs two polls at once, however slow",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const poll = cold("-------|");
      expectObservable(
        pollAfter(clock, 1, () => poll),
        "---------------!",
      ).toBe("----------------");
      expectSubscriptions(poll).toBe("^------!", "--------^------!");
    }),
  );

  it(
    "passes a poll's error on and ends",
    marbles(({ cold, clock, expectObservable }) => {
      expectObservable(pollAfter(clock, 5, () => cold("-x-#"))).toBe("-x-#");
    }),
  );

  it(
    "leaves no timer when unsubscribed during the wait",
    marbles(({ clock, scheduler, flush, expectObservable }) => {
      expectObservable(
        pollAfter(clock, 1000, () => of("x")),
        "--!",
      ).toBe("x--");
      flush();
      expect(scheduler.actions.length).toBe(0);
    }),
  );

  it(
    "polls 10,000 times without growing the stack",
    marbles(({ clock, flush, at }) => {
      let polls = 0;
      const running = pollAfter(clock, 0, () => timer(1, clock.scheduler).pipe(map(() => (polls += 1)))).subscribe({
        next: () => {},
      });
      at(10_000.5, () => running.unsubscribe());
      flush();
      expect(polls).toBe(10_000);
    }),
  );
});
