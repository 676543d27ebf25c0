import { defer, mergeMap } from "rxjs";
import { describe, expect, it } from "vitest";
import { keptFor } from "../../../src/operators/keptFor.ts";
import { marbles } from "../../support/marbles.ts";

describe("keptFor", () => {
  it(
    "shares one run with subscribers during and shortly after it, then runs again",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const runs = [cold("---(v|)"), cold("---(w|)")] as const;
      let begun = 0;
      const kept$ = keptFor(5, clock, () => runs[begun++] ?? cold("#"));
      //                  0123456789
      const asked$ = hot("aa-----aa---|");
      expectObservable(asked$.pipe(mergeMap(() => kept$))).toBe("---(vv)v---w|");
      expectSubscriptions(runs[0]).toBe("^--!");
      expectSubscriptions(runs[1]).toBe("--------^--!");
    }),
  );

  it(
    "passes an error to all subscribers, and does not keep it",
    marbles(({ cold, clock, expectObservable, flush }) => {
      let begun = 0;
      const kept$ = keptFor(5, clock, () => defer(() => (begun++ === 0 ? cold("--#") : cold("-(v|)"))));
      expectObservable(kept$).toBe("--#");
      expectObservable(kept$, "-^").toBe("--#");
      expectObservable(kept$, "---^").toBe("----(v|)");
      flush();
      expect(begun).toBe(2);
    }),
  );

  it(
    "cancels the run after the last unsubscription",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const run = cold("------(v|)");
      const kept$ = keptFor(5, clock, () => run);
      expectObservable(kept$, "^-!").toBe("");
      expectObservable(kept$, "-^--!").toBe("");
      expectSubscriptions(run).toBe("^---!");
    }),
  );
});
