import { firstValueFrom, interval, merge, observeOn, of, take, timer, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/sources/systemClock.ts";
import { systemRandom } from "../../../src/sources/systemRandom.ts";

const { scheduler } = systemClock;

describe("systemClock", () => {
  it("runs what is due at once in order, after the code that scheduled it", async () => {
    const seen: string[] = [];
    const done = firstValueFrom(
      merge(of("a").pipe(observeOn(scheduler)), of("b").pipe(observeOn(scheduler)), timer(0, scheduler)).pipe(
        toArray(),
      ),
    );
    seen.push("scheduled");
    expect([...seen, ...(await done)]).toEqual(["scheduled", "a", "b", 0]);
  });

  it("waits, repeats, and keeps monotonic time", async () => {
    const startedAt = systemClock.monotonicMs();
    expect(await firstValueFrom(interval(2, scheduler).pipe(take(3), toArray()))).toEqual([0, 1, 2]);
    expect(systemClock.monotonicMs() - startedAt).toBeGreaterThanOrEqual(6);
  });

  it("fires no timer before it is due", async () => {
    const delays = Array.from({ length: 200 }, (_, index) => 0.1 + index / 20);
    const early = await Promise.all(
      delays.map(async (delayMs) => {
        const dueAt = systemClock.monotonicMs() + delayMs;
        await firstValueFrom(timer(delayMs, scheduler));
        return systemClock.monotonicMs() < dueAt;
      }),
    );
    expect(early.filter(Boolean)).toEqual([]);
  });

  it("runs work with equal delays in the order in which it was scheduled", async () => {
    const order = Array.from({ length: 2_000 }, (_, index) => index);
    const fired: number[] = [];
    for (const index of order) scheduler.schedule(() => fired.push(index), 3);
    await firstValueFrom(timer(20, scheduler));
    expect(fired).toEqual(order);
  });

  it("lets I/O pass between pieces of due work that take long", async () => {
    const seen: string[] = [];
    const spin = (): void => {
      const until = performance.now() + 12;
      while (performance.now() < until);
    };
    const dueMs = 2;
    scheduler.schedule(() => {
      setImmediate(() => seen.push("others"));
      seen.push("first");
      spin();
    }, dueMs);
    scheduler.schedule(() => seen.push("second"), dueMs);
    await firstValueFrom(timer(5, scheduler));
    expect(seen).toEqual(["first", "others", "second"]);
  });

  it("does not fire a cancelled action, nor one beyond the platform's longest timer", async () => {
    const fired: string[] = [];
    scheduler.schedule(() => fired.push("cancelled now"), 0).unsubscribe();
    scheduler.schedule(() => fired.push("cancelled later"), 1).unsubscribe();
    const far = scheduler.schedule(() => fired.push("in 40 days"), 40 * 86_400_000);
    await firstValueFrom(timer(5, scheduler));
    far.unsubscribe();
    expect(fired).toEqual([]);
  });

  it("tells the wall time in milliseconds since the epoch", () => {
    expect(Math.abs(systemClock.wallTime() - Date.now())).toBeLessThan(1_000);
  });
});

describe("systemRandom", () => {
  it("draws from 0 to below 1 and makes version 4 UUIDs", () => {
    const drawn = Array.from({ length: 1_000 }, () => systemRandom.next());
    expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(990);
    expect(systemRandom.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
