import { Subject, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { dropOldest } from "../../src/operators/dropOldest.ts";
import { marbles } from "../support/marbles.ts";

describe("dropOldest", () => {
  it(
    "keeps the newest values of a burst",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const dropped: string[] = [];
      const source = hot("-(abcde)--f-|");
      expectObservable(source.pipe(dropOldest(2, clock, (v) => dropped.push(v)))).toBe("-(de)-----f-|");
      flush();
      expect(dropped).toEqual(["a", "b", "c"]);
    }),
  );

  it(
    "completes after what waits, passes an error on at once",
    marbles(({ hot, cold, clock, expectObservable }) => {
      expectObservable(hot("-(ab|)").pipe(dropOldest(5, clock))).toBe("-(ab|)");
      expectObservable(cold("-(ab#)").pipe(dropOldest(5, clock))).toBe("-#");
      expectObservable(cold("-|").pipe(dropOldest(5, clock))).toBe("-|");
    }),
  );

  it(
    "emits nothing from inside the source, also to a consumer that feeds it",
    marbles(({ clock, flush }) => {
      const source = new Subject<number>();
      const seen: string[] = [];
      source.pipe(dropOldest(10, clock)).subscribe({
        next: (n) => {
          if (n < 3) source.next(n + 1);
          seen.push(`got ${n}`);
        },
      });
      source.next(1);
      seen.push("pushed");
      flush();
      expect(seen).toEqual(["pushed", "got 1", "got 2", "got 3"]);
    }),
  );

  it(
    "stops on unsubscribe, also in the middle of what waits",
    marbles(({ hot, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const source = hot("-(abc)---");
      expectObservable(source.pipe(dropOldest(5, clock), take(2))).toBe("-(ab|)");
      expectSubscriptions(source).toBe("^!");
      flush();
      expect(scheduler.actions.length).toBe(0);
    }),
  );

  it(
    "holds at most its limit of a synchronous source of 10,000",
    marbles(({ clock, flush }) => {
      let dropped = 0;
      const source = new Subject<number>();
      const seen: number[] = [];
      source.pipe(dropOldest(3, clock, () => (dropped += 1))).subscribe({ next: (n) => seen.push(n) });
      for (let n = 0; n < 10_000; n += 1) source.next(n);
      flush();
      expect({ seen, dropped }).toEqual({ seen: [9_997, 9_998, 9_999], dropped: 9_997 });
    }),
  );
});
