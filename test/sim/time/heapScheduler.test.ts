import {
  auditTime,
  bufferTime,
  concat,
  debounceTime,
  delay,
  expand,
  interval,
  map,
  merge,
  type Observable,
  observeOn,
  of,
  range,
  repeat,
  retry,
  type SchedulerAction,
  type SchedulerLike,
  subscribeOn,
  Subscription,
  take,
  throttleTime,
  throwError,
  timeout,
  timer,
  timestamp,
  windowTime,
  mergeAll,
} from "rxjs";
import { TestScheduler } from "rxjs/testing";
import { describe, expect, it } from "vitest";
import { InvariantError } from "../../../src/core/invariant.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";

/** Operators with time in them, on one scheduler. */
function script(s: SchedulerLike): Observable<string> {
  const named = (name: string) => (source$: Observable<unknown>) =>
    source$.pipe(map((value) => `${name} ${JSON.stringify(value)}`));
  const ticks$ = interval(3, s).pipe(take(12));
  const bursts$ = concat(timer(1, s), timer(2, s), timer(9, s), timer(1, s));
  return merge(
    ticks$.pipe(named("interval")),
    timer(0, 5, s).pipe(take(5), named("timer")),
    ticks$.pipe(delay(4, s), named("delay")),
    bursts$.pipe(debounceTime(3, s), named("debounce")),
    bursts$.pipe(throttleTime(3, s, { leading: true, trailing: true }), named("throttle")),
    ticks$.pipe(auditTime(7, s), named("audit")),
    ticks$.pipe(bufferTime(6, 4, s), named("buffer")),
    ticks$.pipe(windowTime(10, s), mergeAll(), named("window")),
    ticks$.pipe(timestamp(s), named("timestamp")),
    range(0, 5).pipe(observeOn(s), named("observeOn")),
    range(0, 3).pipe(subscribeOn(s, 6), named("subscribeOn")),
    of(1).pipe(
      expand((n) => timer(n, s).pipe(map(() => n * 2))),
      take(5),
      named("expand"),
    ),
    timer(20, s).pipe(timeout({ first: 8, scheduler: s, with: () => of("late") }), named("timeout")),
    of("again").pipe(repeat({ count: 4, delay: () => timer(2, s) }), named("repeat")),
    throwError(() => "no")
      .pipe(retry({ count: 3, delay: () => timer(3, s) }))
      .pipe(timeout({ first: 7, scheduler: s, with: () => of("gave up") }), named("retry")),
  );
}

function playOn(scheduler: SchedulerLike, flush: () => void): string[] {
  const log: string[] = [];
  script(scheduler).subscribe({
    next: (value) => log.push(`${scheduler.now()} ${value}`),
    complete: () => log.push(`${scheduler.now()} complete`),
  });
  flush();
  return log;
}

describe("createHeapScheduler", () => {
  it("runs a script in the same order as TestScheduler", () => {
    const test = new TestScheduler(() => {});
    test.maxFrames = Infinity;
    const heap = createHeapScheduler();
    const expected = playOn(test, () => test.flush());
    expect(playOn(heap, () => heap.runUntilIdle(10_000))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(90);
    expect(heap.pending).toBe(0);
  });

  it("runs actions due at one instant in the order of scheduling", () => {
    const heap = createHeapScheduler();
    const order: string[] = [];
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) heap.schedule(() => order.push(name), 5);
    heap.schedule(() => order.push("first"), 4);
    heap.schedule(() => heap.schedule(() => order.push("late"), 0), 5);
    heap.schedule(() => order.push("last"), 5);
    expect(heap.runUntilIdle(100)).toBe(true);
    expect(order).toEqual(["first", "a", "b", "c", "d", "e", "f", "g", "last", "late"]);
  });

  it("advances to an instant, also when no action is due", () => {
    const heap = createHeapScheduler();
    const seen: number[] = [];
    interval(10, heap)
      .pipe(take(4))
      .subscribe({ next: () => seen.push(heap.now()) });
    heap.advanceTo(25);
    expect({ now: heap.now(), seen, pending: heap.pending }).toEqual({ now: 25, seen: [10, 20], pending: 1 });
    heap.advanceTo(30);
    heap.advanceTo(7);
    expect({ now: heap.now(), seen }).toEqual({ now: 30, seen: [10, 20, 30] });
    expect(heap.runNext()).toBe(true);
    expect(heap.runNext()).toBe(false);
  });

  it("runs the next action only when it is due by the instant given", () => {
    const heap = createHeapScheduler();
    heap.schedule(() => {}, 5);
    expect([heap.runNext(4), heap.now(), heap.runNext(5), heap.now()]).toEqual([false, 0, true, 5]);
  });

  it("forgets a cancelled action at once", () => {
    const heap = createHeapScheduler();
    const ran: number[] = [];
    const actions = Array.from({ length: 1_000 }, (_, n) => heap.schedule(() => ran.push(n), (n * 7919) % 1_000));
    for (const [n, action] of actions.entries()) if (n % 3 !== 0) action.unsubscribe();
    expect(heap.pending).toBe(334);
    heap.runUntilIdle(2_000);
    const expected = actions.map((_, n) => n).filter((n) => n % 3 === 0);
    expect(ran).toEqual(expected.toSorted((a, b) => ((a * 7919) % 1_000) - ((b * 7919) % 1_000)));
  });

  it("moves a pending action that is scheduled again", () => {
    const heap = createHeapScheduler();
    const seen: (readonly [number, string | undefined])[] = [];
    const action = heap.schedule((state?: string) => seen.push([heap.now(), state]), 5, "first");
    (action as SchedulerAction<string>).schedule("second", 9);
    heap.runUntilIdle(10);
    expect(seen).toEqual([[9, "second"]]);
  });

  it("stops at its limit of actions and does not wait for actions that never become due", () => {
    const heap = createHeapScheduler();
    const endless = interval(1, heap).subscribe({ next: () => {} });
    expect(heap.runUntilIdle(500)).toBe(false);
    endless.unsubscribe();
    heap.schedule(() => {}, Infinity);
    expect(heap.runUntilIdle(500)).toBe(true);
    expect({ now: heap.now(), pending: heap.pending }).toEqual({ now: 500, pending: 1 });
  });

  it("rethrows the error of an action, drops the action, and continues at the next call", () => {
    const heap = createHeapScheduler();
    const seen: string[] = [];
    heap.schedule(() => {
      throw new Error("no");
    }, 1);
    heap.schedule(() => seen.push("after"), 2);
    expect(() => heap.advanceTo(5)).toThrow("no");
    heap.advanceTo(5);
    expect({ seen, pending: heap.pending }).toEqual({ seen: ["after"], pending: 0 });
  });

  it("rejects an advance from inside an action", () => {
    const heap = createHeapScheduler();
    heap.schedule(() => heap.advanceTo(10), 1);
    heap.schedule(() => {}, 2);
    expect(() => heap.runUntilIdle(10)).toThrow(InvariantError);
  });

  it("keeps 100,000 timers, cancels half and runs the rest in order", () => {
    const heap = createHeapScheduler();
    const all = new Subscription();
    let ran = 0;
    let lastAt = -1;
    for (let n = 0; n < 100_000; n += 1) {
      const action = heap.schedule(
        () => {
          if (heap.now() < lastAt) throw new Error("out of order");
          lastAt = heap.now();
          ran += 1;
        },
        (n * 48_271) % 65_537,
      );
      if (n % 2 === 0) all.add(action);
    }
    all.unsubscribe();
    expect(heap.runUntilIdle(200_000)).toBe(true);
    expect(ran).toBe(50_000);
  });
});
