import { describe, expect, it } from "vitest";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock, SIM_EPOCH_MS } from "../../../src/sim/time/simClock.ts";

describe("createSimClock", () => {
  it("steps the wall clock without moving monotonic time", () => {
    const scheduler = createHeapScheduler();
    const clock = createSimClock(scheduler);
    scheduler.advanceTo(1_500);
    expect([clock.monotonicMs(), clock.wallTime() - SIM_EPOCH_MS]).toEqual([1_500, 1_500]);
    clock.stepWallBy(-3_600_000);
    scheduler.advanceTo(2_000);
    expect([clock.monotonicMs(), clock.wallTime() - SIM_EPOCH_MS]).toEqual([2_000, -3_598_000]);
    clock.stepWallBy(3_600_000);
    expect(clock.wallTime() - SIM_EPOCH_MS).toBe(2_000);
  });
});
