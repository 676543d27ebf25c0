import { Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { rateLimit } from "../../src/operators/rateLimit.ts";
import { marbles } from "../support/marbles.ts";

const limits = { qps: 250, burst: 2, queueLimit: 10 };

describe("rateLimit", () => {
  it(
    "lets a burst through, then delays values in order to one per period",
    marbles(({ hot, clock, expectObservable, expectSubscriptions }) => {
      const source = hot("(abcd)-------|");
      expectObservable(source.pipe(rateLimit({ ...limits, clock }))).toBe("(ab)c---d----|");
      expectSubscriptions(source).toBe("^------------!");
    }),
  );

  it(
    "completes after the last delayed value",
    marbles(({ hot, clock, expectObservable }) => {
      expectObservable(hot("(abc|)").pipe(rateLimit({ ...limits, clock }))).toBe("(ab)(c|)");
    }),
  );

  it(
    "gives each subscription a full bucket",
    marbles(({ cold, clock, expectObservable }) => {
      const limited$ = cold("(ab|)").pipe(rateLimit({ ...limits, clock }));
      expectObservable(limited$).toBe("(ab|)");
      expectObservable(limited$).toBe("(ab|)");
    }),
  );

  it(
    "drops what arrives when the queue is full",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const dropped: string[] = [];
      const limited$ = hot("(abcd)---|").pipe(
        rateLimit({ qps: 250, burst: 1, queueLimit: 1, clock, onDrop: (v) => dropped.push(v) }),
      );
      // One value holds the place at the gate, one waits behind it.
      expectObservable(limited$).toBe("a---b---c|");
      flush();
      expect(dropped).toEqual(["d"]);
    }),
  );

  it(
    "passes the source's error on at once",
    marbles(({ hot, clock, expectObservable }) => {
      expectObservable(hot("(abc#)").pipe(rateLimit({ ...limits, clock }))).toBe("(ab#)");
    }),
  );

  it(
    "leaves no timer on unsubscribe",
    marbles(({ hot, clock, scheduler, expectObservable, flush }) => {
      const source = hot("(abc)---");
      expectObservable(source.pipe(rateLimit({ ...limits, qps: 1, clock })), "-----!").toBe("(ab)--");
      flush();
      expect({ now: scheduler.now() < 1000, left: scheduler.actions.length }).toEqual({ now: true, left: 0 });
    }),
  );

  it(
    "takes a value that arrives re-entrantly after those before it",
    marbles(({ clock, flush }) => {
      const source = new Subject<number>();
      const seen: (readonly [number, number])[] = [];
      source.pipe(rateLimit({ ...limits, clock })).subscribe({
        next: (n) => {
          seen.push([clock.monotonicMs(), n]);
          if (n < 4) source.next(n + 1);
        },
      });
      source.next(1);
      flush();
      expect(seen).toEqual([
        [0, 1],
        [0, 2],
        [4, 3],
        [8, 4],
      ]);
    }),
  );
});
