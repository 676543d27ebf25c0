import { EMPTY, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { deadline } from "../../../src/operators/deadline.ts";
import { marbles } from "../../support/marbles.ts";

const late = kubeletError("DeadlineExceeded", "no end within 5 ms");

describe("deadline", () => {
  it(
    "passes on what completes in time",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      expectObservable(cold("-a-b|").pipe(deadline(5, clock))).toBe("-a-b|");
      expectObservable(cold("-----|").pipe(deadline(5, clock))).toBe("-----|");
      flush();
      expect(scheduler.actions.length).toBe(0);
    }),
  );

  it(
    "fails at the deadline, values or not, and stops the source",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const source = cold("-a-b------");
      const sourceSubs = " ^----!";
      const expected = "   -a-b-#";
      expectObservable(source.pipe(deadline(5, clock))).toBe(expected, undefined, late);
      expectSubscriptions(source).toBe(sourceSubs);
    }),
  );

  it(
    "fails with the caller's own error",
    marbles(({ cold, clock, expectObservable }) => {
      const mine = kubeletError("DeadlineExceeded", "pull of busybox took too long", { reason: "ErrImagePull" });
      expectObservable(cold("----").pipe(deadline(2, clock, () => mine)), "^--!").toBe("--#", undefined, mine);
    }),
  );

  it(
    "passes the source's error on and leaves no timer",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      expectObservable(cold("-#").pipe(deadline(5, clock))).toBe("-#");
      expectObservable(cold("----").pipe(deadline(5, clock)), "^-!").toBe("---");
      flush();
      expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 2, left: 0 });
    }),
  );

  it(
    "starts no timer for a synchronous source",
    marbles(({ clock, scheduler }) => {
      const seen: string[] = [];
      of("a")
        .pipe(deadline(5, clock))
        .subscribe({ next: (v) => seen.push(v) });
      EMPTY.pipe(deadline(5, clock)).subscribe({ complete: () => seen.push("|") });
      expect({ seen, left: scheduler.actions.length }).toEqual({ seen: ["a", "|"], left: 0 });
    }),
  );
});
