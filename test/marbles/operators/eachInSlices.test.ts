import { Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { monotonicMs } from "../../../src/core/ids.ts";
import { eachInSlices } from "../../../src/operators/eachInSlices.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { marbles } from "../../support/marbles.ts";

/** A clock on which each look takes a millisecond, as if each item took that long. */
function ticking(clock: Clock): Clock {
  let now = 0;
  return { ...clock, monotonicMs: () => monotonicMs(now++) };
}

const LISTS: Readonly<Record<string, readonly string[]>> = { a: ["x", "y"], b: [], c: ["z"] };
const listOf = (value: string) => LISTS[value] ?? [];

describe("eachInSlices", () => {
  it(
    "emits the items of each list in order, nothing of an empty one, and ends with its source",
    marbles(({ clock, hot, expectObservable, expectSubscriptions }) => {
      const source = "    -a----b--c-|";
      const sourceSubs = "^----------!";
      const expected = "  -(xy)----z-|";

      const source$ = hot(source);
      expectObservable(source$.pipe(eachInSlices(listOf, 10, clock))).toBe(expected);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it(
    "lets other work run between two slices",
    marbles(({ clock, scheduler, hot, flush }) => {
      const source = "-a-|";

      const order: string[] = [];
      const source$ = hot<readonly string[]>(source, { a: ["1", "2", "3", "4", "5"] });
      source$.pipe(eachInSlices((items) => items, 2, ticking(clock))).subscribe((item) => {
        if (item === "1") scheduler.schedule(() => order.push("other"));
        order.push(item);
      });
      flush();
      expect(order).toEqual(["1", "2", "other", "3", "4", "5"]);
    }),
  );

  it(
    "emits a value that arrives between two slices after the waiting items",
    marbles(({ clock, scheduler, flush }) => {
      const order: string[] = [];
      const source = new Subject<readonly string[]>();
      source.pipe(eachInSlices((items) => items, 1, ticking(clock))).subscribe((item) => order.push(item));
      scheduler.schedule(() => {
        source.next(["1", "2", "3"]);
        source.next(["4"]);
      });
      flush();
      expect(order).toEqual(["1", "2", "3", "4"]);
    }),
  );

  it(
    "completes after the waiting items, not with its source",
    marbles(({ clock, scheduler, flush }) => {
      const order: string[] = [];
      const source = new Subject<readonly string[]>();
      const items$ = source.pipe(eachInSlices((items) => items, 1, ticking(clock)));
      items$.subscribe({ next: (item) => order.push(item), complete: () => order.push("complete") });
      scheduler.schedule(() => {
        source.next(["1", "2"]);
        source.complete();
        order.push("source ended");
      });
      flush();
      expect(order).toEqual(["1", "source ended", "2", "complete"]);
    }),
  );

  it(
    "drops the waiting items after the last unsubscription",
    marbles(({ clock, scheduler, flush }) => {
      const order: string[] = [];
      const source = new Subject<readonly string[]>();
      const items$ = source.pipe(eachInSlices((items) => items, 1, ticking(clock)));
      const subscription = items$.subscribe((item) => order.push(item));
      scheduler.schedule(() => {
        source.next(["1", "2"]);
        subscription.unsubscribe();
      });
      flush();
      expect(order).toEqual(["1"]);
    }),
  );

  it(
    "passes the error of its source on at once",
    marbles(({ clock, cold, expectObservable }) => {
      const source = "  -c-#";
      const expected = "-z-#";

      const source$ = cold(source);
      expectObservable(source$.pipe(eachInSlices(listOf, 10, clock))).toBe(expected);
    }),
  );

  it(
    "passes on what the function throws",
    marbles(({ clock, cold, expectObservable }) => {
      const source = "  -a-b|";
      const expected = "-#";

      const thrown = eachInSlices<string, string>(
        () => {
          throw "bad";
        },
        10,
        clock,
      );
      const source$ = cold(source);
      expectObservable(source$.pipe(thrown)).toBe(expected, {}, "bad");
    }),
  );
});
