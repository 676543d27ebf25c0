import { describe, expect, it } from "vitest";
import { monotonicMs } from "../../../src/core/ids.ts";
import { inSlices } from "../../../src/operators/inSlices.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { marbles } from "../../support/marbles.ts";

/** Every look at it finds a millisecond gone: a step takes one. */
function ticking(clock: Clock): Clock {
  let now = 0;
  return { ...clock, monotonicMs: () => monotonicMs(now++) };
}

/** Counts its steps, and those other than its own that came in between. */
function* countTo(steps: number, log: string[]): Generator<undefined, string> {
  try {
    for (let step = 1; step <= steps; step += 1) {
      log.push(`${step}`);
      yield;
    }
    return "v";
  } finally {
    log.push("ended");
  }
}

describe("inSlices", () => {
  it(
    "lets others run between two slices",
    marbles(({ clock, scheduler, flush }) => {
      const log: string[] = [];
      inSlices(() => countTo(5, log), 2, ticking(clock)).subscribe();
      // Scheduled at the same time, it comes in between: after the first slice, before the next.
      scheduler.schedule(() => log.push("other"), 0);
      flush();
      expect(log).toEqual(["1", "2", "other", "3", "4", "5", "ended"]);
    }),
  );

  it(
    "emits the result of the work",
    marbles(({ clock, expectObservable }) => {
      const expected = "(v|)";

      expectObservable(inSlices(() => countTo(5, []), 2, ticking(clock))).toBe(expected);
    }),
  );

  it(
    "stops the work after the last unsubscription",
    marbles(({ clock, at, flush }) => {
      const log: string[] = [];
      const work = inSlices(() => countTo(1_000, log), 2, ticking(clock)).subscribe();
      work.unsubscribe();
      at(1, () => log.push("later"));
      flush();
      expect(log).toEqual(["later"]);
    }),
  );

  it(
    "turns an error of the work into a KubeletError",
    marbles(({ clock, expectObservable }) => {
      const expected = "#";

      const broken = inSlices(
        function* (): Generator<undefined, string> {
          yield;
          throw new Error("broken");
        },
        2,
        clock,
      );
      expectObservable(broken).toBe(expected, {}, expect.objectContaining({ code: "Unknown", message: "broken" }));
    }),
  );
});
