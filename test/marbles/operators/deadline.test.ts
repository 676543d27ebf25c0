import { EMPTY, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { deadline } from "../../../src/operators/deadline.ts";
import { marbles } from "../../support/marbles.ts";

const late = kubeletError("DeadlineExceeded", "no end within 5 ms");

describe("deadline", () => {
  it(
    "passes on a source that completes before the deadline",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      const source = "  -a-b|";
      const expected = "-a-b|";

      expectObservable(cold(source).pipe(deadline(5, clock))).toBe(expected);
      flush();
      expect(scheduler.actions.length).toBe(0);
    }),
  );

  it(
    "passes on a source that completes exactly at the deadline",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      const source = "  -----|";
      const expected = "-----|";

      expectObservable(cold(source).pipe(deadline(5, clock))).toBe(expected);
      flush();
      expect(scheduler.actions.length).toBe(0);
    }),
  );

  it(
    "fails at the deadline, values or not, and stops the source",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const source = "    -a-b------";
      const sourceSubs = "^----!";
      const expected = "  -a-b-#";

      const source$ = cold(source);
      expectObservable(source$.pipe(deadline(5, clock))).toBe(expected, undefined, late);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it(
    "fails with the caller's own error",
    marbles(({ cold, clock, expectObservable }) => {
      const source = "      ----";
      const subscription = "^--!";
      const expected = "    --#";

      const mine = kubeletError("DeadlineExceeded", "pull of busybox took too long", { reason: "ErrImagePull" });
      expectObservable(cold(source).pipe(deadline(2, clock, () => mine)), subscription).toBe(expected, undefined, mine);
    }),
  );

  it(
    "leaves no timer after the source's error",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      const source = "  -#";
      const expected = "-#";

      expectObservable(cold(source).pipe(deadline(5, clock))).toBe(expected);
      flush();
      expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 1, left: 0 });
    }),
  );

  it(
    "leaves no timer after an unsubscription",
    marbles(({ cold, clock, scheduler, expectObservable, flush }) => {
      const source = "  ----";
      const unsub = "   --!";
      const expected = "---";

      expectObservable(cold(source).pipe(deadline(5, clock)), unsub).toBe(expected);
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
