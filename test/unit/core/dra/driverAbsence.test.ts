/** Drivers whose ResourceSlices have to go. */
import { describe, expect, it } from "vitest";
import {
  absenceAtStart,
  afterDeletion,
  DRIVER_RETURN_MS,
  isGone,
  nextDueAt,
  withUsable,
} from "../../../../src/core/dra/driverAbsence.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";

const at = monotonicMs;
const due = (ms: number) => at(ms + DRIVER_RETURN_MS);

describe("the absence of drivers", () => {
  it("gives all drivers time to come back after a start", () => {
    const start = withUsable(absenceAtStart(at(0)), new Set(["here"]), at(5));
    const gone = (now: number) => ["here", "never"].filter((driver) => isGone(start, driver, at(now)));
    expect([nextDueAt(start), gone(DRIVER_RETURN_MS - 1), gone(DRIVER_RETURN_MS)]).toEqual([due(0), [], ["never"]]);
    const after = afterDeletion(start, due(0));
    expect([nextDueAt(after), isGone(after, "never", at(10 ** 9))]).toEqual([undefined, false]);
  });

  it("counts for each driver from when it went, whatever others do", () => {
    const both = afterDeletion(withUsable(absenceAtStart(at(0)), new Set(["a", "b"]), at(0)), due(0));
    const one = withUsable(both, new Set(["b"]), at(100));
    const none = withUsable(one, new Set(), at(200));
    expect([nextDueAt(none), isGone(none, "a", due(100)), isGone(none, "b", due(100))]).toEqual([
      due(100),
      true,
      false,
    ]);
    expect(nextDueAt(afterDeletion(none, due(100)))).toBe(due(200));
  });

  it("ends when the driver is back", () => {
    const went = withUsable(withUsable(absenceAtStart(at(0)), new Set(["a"]), at(0)), new Set(), at(10));
    const back = withUsable(went, new Set(["a"]), at(20));
    expect([isGone(went, "a", due(10)), isGone(back, "a", due(10))]).toEqual([true, false]);
  });
});
