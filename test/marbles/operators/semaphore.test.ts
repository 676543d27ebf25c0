import { finalize, merge, NEVER, Observable, of, Subject, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { createSemaphore } from "../../../src/operators/semaphore.ts";
import { marbles } from "../../support/marbles.ts";

describe("createSemaphore", () => {
  it(
    "runs up to the limit at once and the rest in the order of their asking",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const gate = createSemaphore(2);
      const [a, b, c, d] = [cold("---a|"), cold("-----b|"), cold("--c|"), cold("-d|")];
      expectObservable(merge(gate.run(a), gate.run(b), gate.run(c), gate.run(d))).toBe("---a-bcd|");
      expectSubscriptions(a).toBe("^---!");
      expectSubscriptions(b).toBe("^-----!");
      expectSubscriptions(c).toBe("----^--!");
      expectSubscriptions(d).toBe("------^-!");
    }),
  );

  it(
    "releases the slot of a failed call, and passes the error to its caller only",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const gate = createSemaphore(1);
      const next = cold("-x|");
      expectObservable(gate.run(cold("--#"))).toBe("--#");
      expectObservable(gate.run(next)).toBe("---x|");
      expectSubscriptions(next).toBe("--^-!");
    }),
  );

  it(
    "releases the slot or the place in the queue of a caller that unsubscribes",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const gate = createSemaphore(1);
      const [a, b, c] = [cold("----------a|"), cold("-b|"), cold("-c|")];
      expectObservable(gate.run(a), "-----!").toBe("------");
      expectObservable(gate.run(b), "---!").toBe("----");
      expectObservable(gate.run(c)).toBe("------c|");
      expectSubscriptions(a).toBe("^----!");
      expectSubscriptions(b).toBe();
      expectSubscriptions(c).toBe("-----^-!");
      flush();
      expect({ running: gate.running, waiting: gate.waiting }).toEqual({ running: 0, waiting: 0 });
    }),
  );

  it("drops callers that unsubscribed while they waited", () => {
    const gate = createSemaphore(1);
    const holder = gate.run(NEVER).subscribe({});
    for (let n = 0; n < 1_000; n += 1) gate.run(NEVER).subscribe({}).unsubscribe();
    expect({ running: gate.running, waiting: gate.waiting }).toEqual({ running: 1, waiting: 0 });
    holder.unsubscribe();
    expect({ running: gate.running, waiting: gate.waiting }).toEqual({ running: 0, waiting: 0 });
  });

  it("starts the next call only after the teardown of the one before, however that ended", () => {
    const log: string[] = [];
    const gate = createSemaphore(1);
    const call = (name: string, end: Observable<unknown>) =>
      gate.run(
        new Observable<unknown>((subscriber) => {
          log.push(`+${name}`);
          subscriber.add(() => log.push(`-${name}`));
          subscriber.add(end.subscribe(subscriber));
        }),
      );
    const done = new Subject<void>();
    const cancelled = call("a", NEVER).subscribe({});
    call("b", done).subscribe({ error: () => {} });
    call("c", of(1)).subscribe({});
    cancelled.unsubscribe();
    done.error("failed");
    expect(log).toEqual(["+a", "-a", "+b", "-b", "+c", "-c"]);
  });

  it("loops through 10,000 waiting synchronous calls", () => {
    const gate = createSemaphore(1);
    const first = new Subject<number>();
    const seen: number[] = [];
    gate.run(first.pipe(take(1))).subscribe({});
    for (let n = 0; n < 10_000; n += 1) gate.run(of(n)).subscribe({ next: (value) => seen.push(value) });
    first.next(0);
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  });

  it("accepts a re-entrant call from the end of another one", () => {
    const gate = createSemaphore(1);
    const seen: string[] = [];
    gate
      .run(of("a").pipe(finalize(() => gate.run(of("b")).subscribe({ next: (value) => seen.push(value) }))))
      .subscribe({ next: (value) => seen.push(value) });
    expect({ seen, running: gate.running }).toEqual({ seen: ["a", "b"], running: 0 });
  });

  it(
    "releases the slot of a call that outlasts the patience, once, and lets it run on",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const gate = createSemaphore(1, { ms: 3, clock });
      const [slow, next, last] = [cold("------a|"), cold("------b|"), cold("-c|")];
      expectObservable(gate.run(slow)).toBe("------a|");
      expectObservable(gate.run(next)).toBe("---------b|");
      expectObservable(gate.run(last)).toBe("-------c|");
      expectSubscriptions(next).toBe("---^------!");
      expectSubscriptions(last).toBe("------^-!");
    }),
  );

  it(
    "takes no slot before the subscription",
    marbles(({ cold, expectObservable }) => {
      const gate = createSemaphore(1);
      const never = gate.run(cold("----------"));
      expectObservable(gate.run(cold("-x|"))).toBe("-x|");
      expect([never instanceof Observable, gate.running]).toEqual([true, 0]);
    }),
  );
});
