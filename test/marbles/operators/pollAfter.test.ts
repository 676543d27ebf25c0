import { map, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { pollAfter } from "../../../src/operators/pollAfter.ts";
import { marbles } from "../../support/marbles.ts";

describe("pollAfter", () => {
  it(
    "starts the next period when the last poll ended",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const poll = "          x--(y|)";
      const firstPollSubs = " ^--!";
      const secondPollSubs = "--------^--!";
      const thirdPollSubs = " ----------------^-!";
      const unsub = "         ------------------!";
      const expected = "      x--y----x--y----x--";

      const poll$ = cold(poll);
      expectObservable(
        pollAfter(clock, 5, () => poll$),
        unsub,
      ).toBe(expected);
      expectSubscriptions(poll$).toBe(firstPollSubs, secondPollSubs, thirdPollSubs);
    }),
  );

  it(
    "waits a period first without `immediately`",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   -----------!";
      const expected = "----x---x---";

      const stream$ = pollAfter(clock, 4, () => of("x"), { immediately: false });
      expectObservable(stream$, unsub).toBe(expected);
    }),
  );

  it(
    "computes the period before every wait",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   ---------!";
      const expected = "xx--x-x---";

      const periods = [1, 3, 2];
      const stream$ = pollAfter(
        clock,
        () => periods.shift() ?? 50,
        () => of("x"),
      );
      expectObservable(stream$, unsub).toBe(expected);
    }),
  );

  it(
    "never runs two polls at once, however slow",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const poll = "          -------|";
      const firstPollSubs = " ^------!";
      const secondPollSubs = "--------^------!";
      const unsub = "         ---------------!";
      const expected = "      ----------------";

      const poll$ = cold(poll);
      expectObservable(
        pollAfter(clock, 1, () => poll$),
        unsub,
      ).toBe(expected);
      expectSubscriptions(poll$).toBe(firstPollSubs, secondPollSubs);
    }),
  );

  it(
    "passes a poll's error on and ends",
    marbles(({ cold, clock, expectObservable }) => {
      const poll = "    -x-#";
      const expected = "-x-#";

      expectObservable(pollAfter(clock, 5, () => cold(poll))).toBe(expected);
    }),
  );

  it(
    "leaves no timer when unsubscribed during the wait",
    marbles(({ clock, scheduler, flush, expectObservable }) => {
      const unsub = "   --!";
      const expected = "x--";

      expectObservable(
        pollAfter(clock, 1000, () => of("x")),
        unsub,
      ).toBe(expected);
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
