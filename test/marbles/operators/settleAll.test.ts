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
      const calls = { a: cold("--(a|)"), b: cold("----(b|)"), c: of("c") };
      const settled$ = settleAll(calls, { deadlineMs: 10, clock, onFailure });
      expectObservable(settled$).toBe("----(r|)", { r: { a: "a", b: "b", c: "c" } });
    }),
  );

  it(
    "leaves out calls that fail, have no value, or do not end in time, and cancels these",
    marbles(({ cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const failures: KubeletError[] = [];
      const late$ = cold("---------------(x|)");
      const settled$ = settleAll(
        { fails: away$, empty: EMPTY, late: late$, reported: of("x") },
        { deadlineMs: 10, clock, onFailure: (error) => failures.push(error) },
      );
      expectObservable(settled$).toBe("10ms (r|)", { r: { reported: "x" } });
      expectSubscriptions(late$).toBe("^ 9ms !");
      flush();
      expect(failures).toMatchObject([
        { code: "Unavailable", message: "away" },
        { code: "DeadlineExceeded", message: "late: no end within 10 ms" },
      ]);
    }),
  );

  it(
    "sets no timer when all calls end at once, or there is none",
    marbles(({ clock, scheduler, expectObservable, flush }) => {
      const options = { deadlineMs: 10, clock, onFailure };
      expectObservable(settleAll({ fails: away$, reported: of("x") }, options)).toBe("(r|)", { r: { reported: "x" } });
      expectObservable(settleAll({}, options)).toBe("(r|)", { r: {} });
      flush();
      expect(scheduler.frame).toBe(0);
    }),
  );

  it(
    "cancels its calls and its timer when it is unsubscribed",
    marbles(({ cold, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const call$ = cold("-----(a|)");
      expectObservable(settleAll({ a: call$ }, { deadlineMs: 10, clock, onFailure }), "--!").toBe("--");
      expectSubscriptions(call$).toBe("^-!");
      flush();
      expect(scheduler.frame).toBe(2);
    }),
  );

  it(
    "errors on a broken invariant",
    marbles(({ clock, expectObservable }) => {
      const broken$ = new Observable<string>(() => invariant(false, "broken"));
      const settled$ = settleAll({ broken: broken$, never: NEVER }, { deadlineMs: 10, clock, onFailure });
      expectObservable(settled$).toBe("#", undefined, expect.objectContaining({ message: "broken" }));
    }),
  );
});
