import { describe, expect, it } from "vitest";
import { epochMs } from "../../../src/core/ids.ts";
import { untilWallTime } from "../../../src/operators/untilWallTime.ts";
import { marbles, TEST_EPOCH_MS } from "../../support/marbles.ts";

describe("untilWallTime", () => {
  it(
    "ends at the instant, after any number of clock readings",
    marbles(({ clock, expectObservable }) => {
      const expected = "150s (0|)";

      expectObservable(untilWallTime(clock, epochMs(TEST_EPOCH_MS + 150_000))).toBe(expected, { 0: 0 });
    }),
  );

  it(
    "ends in the next turn for an instant in the past",
    marbles(({ clock, expectObservable }) => {
      const expected = "(0|)";

      expectObservable(untilWallTime(clock, epochMs(TEST_EPOCH_MS - 1))).toBe(expected, { 0: 0 });
    }),
  );

  it(
    "ends within a minute of a step of the clock over the instant",
    marbles(({ clock, at, expectObservable }) => {
      const expected = "120s (0|)";

      let stepMs = 0;
      at(90_000, () => {
        stepMs = 86_400_000;
      });
      const stepped = { ...clock, wallTime: () => epochMs(clock.wallTime() + stepMs) };
      expectObservable(untilWallTime(stepped, epochMs(TEST_EPOCH_MS + 3_600_000))).toBe(expected, { 0: 0 });
    }),
  );

  it(
    "reads the clock once per millisecond at most",
    marbles(({ clock, expectObservable, flush }) => {
      const expected = "---(0|)";

      const at = TEST_EPOCH_MS + 0.001;
      let looks = 0;
      const wallTime = () => {
        looks += 1;
        if (looks > 100) throw new Error("it spins");
        return epochMs(clock.monotonicMs() < 3 ? TEST_EPOCH_MS : at);
      };
      expectObservable(untilWallTime({ ...clock, wallTime }, epochMs(at))).toBe(expected, { 0: 0 });
      flush();
    }),
  );

  it(
    "leaves no timer behind",
    marbles(({ clock, scheduler, flush }) => {
      const subscription = untilWallTime(clock, epochMs(TEST_EPOCH_MS + 1_000)).subscribe();
      subscription.unsubscribe();
      flush();
      expect(scheduler.now()).toBe(0);
    }),
  );
});
