import { EMPTY, NEVER, Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { invariant } from "../../../src/core/invariant.ts";
import { type KubeletError, kubeletError } from "../../../src/core/errors.ts";
import { settleAll } from "../../../src/operators/settleAll.ts";
import { marbles } from "../../support/marbles.ts";

const away$ = throwError(() => kubeletError("Unavailable", "away"));
const onFailure = (): void => {};

describe("settleAll", () => {
  it(
    "emits the results by name once all calls have ended",
    marbles(({ cold, clock, expectObservable }) => {
      const quick = "   --(a|)";
      const slow = "    ----(b|)";
      const expected = "----(r|)";

      const calls = { quick: cold(quick), slow: cold(slow), synchronous: of("c") };
      const settled$ = settleAll(calls, { deadlineMs: 10, clock, onFailure });
      expectObservable(settled$).toBe(expected, { r: { quick: "a", slow: "b", synchronous: "c" } });
    }),
  );

  it(
    "leaves out calls that fail, have no value, or do not end in time, and cancels these",
    marbles(({ cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const late = "    ---------------(x|)";
      const lateSubs = "^ 9ms !";
      const expected = "10ms (r|)";

      const failures: KubeletError[] = [];
      const late$ = cold(late);
      const settled$ = settleAll(
        { fails: away$, empty: EMPTY, late: late$, reported: of("x") },
        { deadlineMs: 10, clock, onFailure: (error) => failures.push(error) },
      );
      expectObservable(settled$).toBe(expected, { r: { reported: "x" } });
      expectSubscriptions(late$).toBe(lateSubs);
      flush();
      expect(failures).toMatchObject([
        { code: "Unavailable", message: "away" },
        { code: "DeadlineExceeded", message: "late: no end within 10 ms" },
      ]);
    }),
  );

  it.each([
    { name: "all calls end at once", calls: { fails: away$, reported: of("x") }, results: { reported: "x" } },
    { name: "there is no call", calls: {}, results: {} },
  ])("sets no timer when $name", ({ calls, results }) => {
    marbles(({ clock, scheduler, expectObservable, flush }) => {
      const expected = "(r|)";

      expectObservable(settleAll(calls, { deadlineMs: 10, clock, onFailure })).toBe(expected, { r: results });
      flush();
      expect(scheduler.frame).toBe(0);
    })();
  });

  it(
    "cancels its calls and its timer when it is unsubscribed",
    marbles(({ cold, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const call = "    -----(a|)";
      const callSubs = "^-!";
      const unsub = "   --!";
      const expected = "--";

      const call$ = cold(call);
      expectObservable(settleAll({ a: call$ }, { deadlineMs: 10, clock, onFailure }), unsub).toBe(expected);
      expectSubscriptions(call$).toBe(callSubs);
      flush();
      expect(scheduler.frame).toBe(2);
    }),
  );

  it(
    "errors on a broken invariant",
    marbles(({ clock, expectObservable }) => {
      const expected = "#";

      const broken$ = new Observable<string>(() => invariant(false, "broken"));
      const settled$ = settleAll({ broken: broken$, never: NEVER }, { deadlineMs: 10, clock, onFailure });
      expectObservable(settled$).toBe(expected, undefined, expect.objectContaining({ message: "broken" }));
    }),
  );
});
