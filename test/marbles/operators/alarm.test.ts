import { describe, expect, it, vi } from "vitest";
import { Alarm, MAX_TIMER_MS } from "../../../src/operators/alarm.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

/** An alarm, and when it rang. */
function ringing({ clock }: Pick<Marbles, "clock">, then: (alarm: Alarm) => void = () => {}) {
  const rang: number[] = [];
  const alarm: Alarm = new Alarm(clock, () => {
    rang.push(clock.monotonicMs());
    then(alarm);
  });
  return { alarm, rang };
}

describe("Alarm", () => {
  it(
    "rings once for each time it is set",
    marbles((m) => {
      const { alarm, rang } = ringing(m);
      alarm.set(3);
      m.at(10, () => alarm.set(5));
      m.at(30, () => alarm.set(-1));
      m.flush();
      expect(rang).toEqual([3, 15, 30]);
    }),
  );

  it(
    "can be set by its own ringing",
    marbles((m) => {
      const { alarm, rang } = ringing(m, (own) => rang.length < 3 && own.set(7));
      alarm.set(1);
      m.flush();
      expect(rang).toEqual([1, 8, 15]);
    }),
  );

  it(
    "replaces its time when it is set again, earlier or later",
    marbles((m) => {
      const { alarm, rang } = ringing(m);
      alarm.set(10);
      m.at(5, () => alarm.set(10));
      m.at(6, () => alarm.set(2));
      m.flush();
      expect(rang).toEqual([8]);
    }),
  );

  it(
    "does not ring once it was stopped, until it is set again",
    marbles((m) => {
      const { alarm, rang } = ringing(m);
      alarm.stop();
      alarm.set(10);
      m.at(5, () => alarm.stop());
      m.at(20, () => alarm.set(1));
      m.at(30, () => alarm.stop());
      m.flush();
      expect([rang, m.scheduler.actions.length]).toEqual([[21], 0]);
    }),
  );

  it("waits for a far time in steps, with one scheduled action for all times", () => {
    const scheduler = createHeapScheduler();
    const schedule = vi.spyOn(scheduler, "schedule");
    const clock = createSimClock(scheduler);
    const { alarm, rang } = ringing({ clock }, (own) => own.set(100));
    alarm.set(2.5 * MAX_TIMER_MS);
    scheduler.advanceTo(2.5 * MAX_TIMER_MS + 250);
    expect(rang.map((at) => at - 2.5 * MAX_TIMER_MS)).toEqual([0, 100, 200]);
    expect([scheduler.pending, schedule.mock.calls.length]).toEqual([1, 1]);
    alarm.stop();
    expect(scheduler.pending).toBe(0);
  });
});
