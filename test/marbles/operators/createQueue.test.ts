import { take, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { monotonicMs } from "../../../src/core/ids.ts";
import { InvariantError } from "../../../src/core/invariant.ts";
import { createQueue } from "../../../src/operators/createQueue.ts";
import { marbles } from "../../support/marbles.ts";

describe("createQueue", () => {
  it(
    "hands values out in order, after push returned",
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   ---------!";
      const expected = "--(ab)-c--";

      const queue = createQueue<string>("q", { bound: 10, clock });
      const order: string[] = [];
      at(2, () => {
        queue.push("a");
        queue.push("b");
        order.push("pushed");
      });
      at(7, () => queue.push("c"));
      expectObservable(queue.values$.pipe(tap((v) => order.push(v))), unsub).toBe(expected);
      flush();
      expect(order).toEqual(["pushed", "a", "b", "c"]);
    }),
  );

  it(
    "says since when values wait: the time of the first one, or of the last that was emitted before them",
    marbles(({ clock, at, expectObservable, flush }) => {
      const subs = "    -----^----!";
      const expected = "-----a---b-";

      const queue = createQueue<string>("q", { bound: 10, clock });
      const seen: (number | undefined)[] = [];
      const look = () => seen.push(queue.waitingSince);
      at(1, look);
      at(2, () => queue.push("a"));
      at(4, look);
      at(6, look);
      at(9, () => {
        queue.push("b");
        look();
      });
      at(10, look);
      expectObservable(queue.values$, subs).toBe(expected);
      flush();
      expect(seen).toEqual([undefined, 2, undefined, 9, undefined]);
    }),
  );

  it(
    "closes a loop without re-entering: what a consumer pushes comes with a later action",
    marbles(({ clock, scheduler, at, expectObservable, flush }) => {
      const unsub = "   ------!";
      const expected = "-(abc)";

      const queue = createQueue<number>("loop", { bound: 10, clock });
      const order: string[] = [];
      const looped$ = queue.values$.pipe(
        tap((n) => {
          order.push(`+${n}`);
          if (n < 3) {
            scheduler.schedule(() => order.push(`others after ${n}`));
            queue.push(n + 1);
          }
          order.push(`-${n}`);
        }),
      );
      at(1, () => queue.push(1));
      expectObservable(looped$, unsub).toBe(expected, { a: 1, b: 2, c: 3 });
      flush();
      expect(order).toEqual(["+1", "-1", "others after 1", "+2", "-2", "others after 2", "+3", "-3"]);
    }),
  );

  it(
    "lets other work run before the values that are left over after a slice",
    marbles(({ clock, scheduler, flush }) => {
      let now = 0;
      // Each look at the clock takes longer than a slice.
      const slow = { ...clock, monotonicMs: () => monotonicMs((now += 1_000)) };
      const queue = createQueue<string>("q", { bound: 10, clock: slow });
      const order: string[] = [];
      queue.values$.subscribe((value) => {
        scheduler.schedule(() => order.push(`others after ${value}`));
        order.push(value);
      });
      queue.push("a");
      queue.push("b");
      flush();
      expect(order).toEqual(["a", "others after a", "b", "others after b"]);
    }),
  );

  it(
    "keeps values for a consumer that subscribes later",
    marbles(({ clock, expectObservable }) => {
      const subscription = "--^--!";
      const expected = "    --(ab)";

      const queue = createQueue<string>("q", { bound: 10, clock });
      queue.push("a");
      queue.push("b");
      expectObservable(queue.values$, subscription).toBe(expected);
    }),
  );

  it(
    "keeps the values between two consumers for the second one",
    marbles(({ clock, at, expectObservable }) => {
      const firstSubscription = " --^";
      const firstExpected = "     --(a|)";
      const secondSubscription = "-------^--!";
      const secondExpected = "    -------(bc)";

      const queue = createQueue<string>("q", { bound: 10, clock });
      queue.push("a");
      queue.push("b");
      at(5, () => queue.push("c"));
      expectObservable(queue.values$.pipe(take(1)), firstSubscription).toBe(firstExpected);
      expectObservable(queue.values$, secondSubscription).toBe(secondExpected);
    }),
  );

  it(
    "drops and counts the oldest beyond its bound",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   -------!";
      const expected = "(abc)";

      const dropped: number[] = [];
      const queue = createQueue<number>("q", { bound: 3, clock, onDrop: (n) => dropped.push(n) });
      for (let n = 0; n < 5; n += 1) queue.push(n);
      expect({ size: queue.size, dropped: queue.dropped, seen: dropped }).toEqual({
        size: 3,
        dropped: 2,
        seen: [0, 1],
      });
      expectObservable(queue.values$, unsub).toBe(expected, { a: 2, b: 3, c: 4 });
      flush();
      expect(queue.size).toBe(0);
    }),
  );

  it(
    "hands out values that overtake before the others, each kind in order",
    marbles(({ clock, at, expectObservable }) => {
      const unsub = "   ---------------!";
      const expected = "--(ABcd)-(Ef)--";

      const overtakes = (value: string): boolean => value === value.toUpperCase();
      const queue = createQueue<string>("q", { bound: 10, clock, overtakes });
      at(2, () => [..."cAdB"].forEach((value) => queue.push(value)));
      at(9, () => [..."fE"].forEach((value) => queue.push(value)));
      expectObservable(queue.values$, unsub).toBe(expected);
    }),
  );

  it(
    "drops values that overtake only when no other waits",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   -----!";
      const expected = "(BC)";

      const dropped: string[] = [];
      const overtakes = (value: string): boolean => value === value.toUpperCase();
      const queue = createQueue<string>("q", { bound: 2, clock, overtakes, onDrop: (value) => dropped.push(value) });
      for (const value of "AdeBC") queue.push(value);
      expect({ dropped: dropped.join(" "), size: queue.size }).toEqual({ dropped: "d e A", size: 2 });
      expectObservable(queue.values$, unsub).toBe(expected);
    }),
  );

  it(
    "hands out 10,000 values in one action",
    marbles(({ clock, flush }) => {
      const queue = createQueue<number>("q", { bound: 10_000, clock });
      const seen: number[] = [];
      queue.values$.pipe(take(10_000)).subscribe({ next: (n) => seen.push(n) });
      for (let n = 0; n < 10_000; n += 1) queue.push(n);
      expect(seen).toEqual([]);
      flush();
      expect(seen).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    }),
  );

  it(
    "refuses a second consumer",
    marbles(({ clock, expectObservable }) => {
      const firstUnsub = "        ------!";
      const firstExpected = "     -------";
      const secondSubscription = "--^";
      const secondExpected = "    --#";

      const queue = createQueue<string>("q", { bound: 10, clock });
      const refused = new InvariantError("queue q has two consumers");
      expectObservable(queue.values$, firstUnsub).toBe(firstExpected);
      expectObservable(queue.values$, secondSubscription).toBe(secondExpected, {}, refused);
    }),
  );

  it(
    "serves the first consumer after it refused a second one",
    marbles(({ clock, at, expectObservable }) => {
      const unsub = "   ------!";
      const expected = "----a--";

      const queue = createQueue<string>("q", { bound: 10, clock });
      at(2, () => queue.values$.subscribe({ error: () => {} }));
      at(4, () => queue.push("a"));
      expectObservable(queue.values$, unsub).toBe(expected);
    }),
  );

  it(
    "leaves no pending action behind when unsubscribed",
    marbles(({ clock, at, scheduler, flush }) => {
      const queue = createQueue<string>("q", { bound: 10, clock });
      const seen: string[] = [];
      const consumer = queue.values$.subscribe({ next: (v) => seen.push(v) });
      at(1, () => {
        queue.push("a");
        consumer.unsubscribe();
      });
      flush();
      expect({ seen, size: queue.size, pending: scheduler.actions.length }).toEqual({ seen: [], size: 1, pending: 0 });
    }),
  );
});
