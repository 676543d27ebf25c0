import { defer, mergeMap, NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { keptFor, keptValue } from "../../../src/operators/keptFor.ts";
import { marbles } from "../../support/marbles.ts";

describe("keptFor", () => {
  it(
    "shares one run with subscribers during and shortly after it, then runs again",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const subscribers = "  aa-----aa---|";
      const firstRun = "     ---(v|)";
      const firstRunSubs = " ^--!";
      const secondRun = "    ---(w|)";
      const secondRunSubs = "--------^--!";
      const expected = "     ---(vv)v---w|";

      const runs = [cold(firstRun), cold(secondRun)] as const;
      let begun = 0;
      const kept$ = keptFor(5, clock, () => runs[begun++] ?? NEVER);
      expectObservable(hot(subscribers).pipe(mergeMap(() => kept$))).toBe(expected);
      expectSubscriptions(runs[0]).toBe(firstRunSubs);
      expectSubscriptions(runs[1]).toBe(secondRunSubs);
    }),
  );

  it(
    "passes an error to all subscribers",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const failing = "          --#";
      const failingSubs = "      ^-!";
      const expected = "         --#";
      const laterSubscription = "-^";

      const failing$ = cold(failing);
      const kept$ = keptFor(5, clock, () => failing$);
      expectObservable(kept$).toBe(expected);
      expectObservable(kept$, laterSubscription).toBe(expected);
      expectSubscriptions(failing$).toBe(failingSubs);
    }),
  );

  it(
    "does not keep an error: the next subscriber starts a run",
    marbles(({ cold, clock, expectObservable, flush }) => {
      const failing = "         --#";
      const healthy = "         -(v|)";
      const expectedFailure = " --#";
      const nextSubscription = "---^";
      const expectedNext = "    ----(v|)";

      let begun = 0;
      const kept$ = keptFor(5, clock, () => defer(() => (begun++ === 0 ? cold(failing) : cold(healthy))));
      expectObservable(kept$).toBe(expectedFailure);
      expectObservable(kept$, nextSubscription).toBe(expectedNext);
      flush();
      expect(begun).toBe(2);
    }),
  );

  it(
    "cancels the run after the last unsubscription",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const run = "              ------(v|)";
      const runSubs = "          ^---!";
      const firstSubscription = "^-!";
      const expected = "         -----";
      const lastSubscription = " -^--!";

      const run$ = cold(run);
      const kept$ = keptFor(5, clock, () => run$);
      expectObservable(kept$, firstSubscription).toBe(expected);
      expectObservable(kept$, lastSubscription).toBe(expected);
      expectSubscriptions(run$).toBe(runSubs);
    }),
  );
});

describe("keptValue", () => {
  it(
    "runs again for a subscriber that needs a newer value, whose answer then serves all",
    marbles(({ hot, cold, clock, expectObservable, flush }) => {
      const subscribers = "p---n-p--|";
      const run = "        -(v|)";
      const expected = "   -v---vv--|";

      let begun = 0;
      const kept = keptValue(clock, () => {
        begun += 1;
        return cold(run);
      });
      const ages: Readonly<Record<string, number>> = { p: 8, n: 2 };
      expectObservable(hot(subscribers).pipe(mergeMap((who) => kept(ages[who] ?? 0)))).toBe(expected);
      flush();
      expect(begun).toBe(2);
    }),
  );
});
