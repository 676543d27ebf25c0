import { finalize, merge, NEVER, Observable, of, Subject, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { createSemaphore } from "../../../src/operators/semaphore.ts";
import { marbles } from "../../support/marbles.ts";

describe("createSemaphore", () => {
  it(
    "runs up to the limit at once and the rest in the order of their requests",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = "     ---a|";
      const firstSubs = " ^---!";
      const second = "    -----b|";
      const secondSubs = "^-----!";
      const third = "     --c|";
      const thirdSubs = " ----^--!";
      const fourth = "    -d|";
      const fourthSubs = "------^-!";
      const expected = "  ---a-bcd|";

      const gate = createSemaphore(2);
      const [first$, second$, third$, fourth$] = [cold(first), cold(second), cold(third), cold(fourth)];
      expectObservable(merge(...[first$, second$, third$, fourth$].map((call$) => gate.run(call$)))).toBe(expected);
      expectSubscriptions(first$).toBe(firstSubs);
      expectSubscriptions(second$).toBe(secondSubs);
      expectSubscriptions(third$).toBe(thirdSubs);
      expectSubscriptions(fourth$).toBe(fourthSubs);
    }),
  );

  it(
    "releases the slot of a failed call, and passes the error to its caller only",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const next = "           -x|";
      const nextSubs = "       --^-!";
      const failing = "        --#";
      const expectedFailing = "--#";
      const expectedNext = "   ---x|";

      const gate = createSemaphore(1);
      const next$ = cold(next);
      expectObservable(gate.run(cold(failing))).toBe(expectedFailing);
      expectObservable(gate.run(next$)).toBe(expectedNext);
      expectSubscriptions(next$).toBe(nextSubs);
    }),
  );

  it(
    "releases the slot of a caller that unsubscribes",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const running = "        ----------a|";
      const runningSubs = "    ^----!";
      const next = "           -c|";
      const nextSubs = "       -----^-!";
      const unsub = "          -----!";
      const expectedRunning = "------";
      const expectedNext = "   ------c|";

      const gate = createSemaphore(1);
      const [running$, next$] = [cold(running), cold(next)];
      expectObservable(gate.run(running$), unsub).toBe(expectedRunning);
      expectObservable(gate.run(next$)).toBe(expectedNext);
      expectSubscriptions(running$).toBe(runningSubs);
      expectSubscriptions(next$).toBe(nextSubs);
      flush();
      expect({ running: gate.running, waiting: gate.waiting }).toEqual({ running: 0, waiting: 0 });
    }),
  );

  it(
    "releases the place in the queue of a caller that unsubscribes",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const waiting = "        -b|";
      const next = "           -c|";
      const nextSubs = "       -----^-!";
      const running = "        ----a|";
      const expectedRunning = "----a|";
      const unsub = "          ---!";
      const expectedWaiting = "----";
      const expectedNext = "   ------c|";

      const gate = createSemaphore(1);
      const [waiting$, next$] = [cold(waiting), cold(next)];
      expectObservable(gate.run(cold(running))).toBe(expectedRunning);
      expectObservable(gate.run(waiting$), unsub).toBe(expectedWaiting);
      expectObservable(gate.run(next$)).toBe(expectedNext);
      expectSubscriptions(waiting$).toBe();
      expectSubscriptions(next$).toBe(nextSubs);
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
      const slow = "        ------a|";
      const next = "        ------b|";
      const nextSubs = "    ---^------!";
      const last = "        -c|";
      const lastSubs = "    ------^-!";
      const expectedSlow = "------a|";
      const expectedNext = "---------b|";
      const expectedLast = "-------c|";

      const gate = createSemaphore(1, { ms: 3, clock });
      const [slow$, next$, last$] = [cold(slow), cold(next), cold(last)];
      expectObservable(gate.run(slow$)).toBe(expectedSlow);
      expectObservable(gate.run(next$)).toBe(expectedNext);
      expectObservable(gate.run(last$)).toBe(expectedLast);
      expectSubscriptions(next$).toBe(nextSubs);
      expectSubscriptions(last$).toBe(lastSubs);
    }),
  );

  it(
    "takes no slot before the subscription",
    marbles(({ cold, expectObservable }) => {
      const unsubscribed = "----------";
      const call = "        -x|";
      const expected = "    -x|";

      const gate = createSemaphore(1);
      const never = gate.run(cold(unsubscribed));
      expectObservable(gate.run(cold(call))).toBe(expected);
      expect([never instanceof Observable, gate.running]).toEqual([true, 0]);
    }),
  );
});
