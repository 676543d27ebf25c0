import { describe, expect, it } from "vitest";
import { FIRST_PACE, paceLine } from "../../../../src/core/telemetry/linePace.ts";

describe("the rate of log lines", () => {
  it("writes a bounded number per period, and reports the suppressed ones with the next line", () => {
    let pace = FIRST_PACE;
    const at = [0, 1, 2, 3, 9, 10, 11, 12, 50];
    const written = at.map((nowMs) => {
      const line = paceLine(pace, nowMs, { periodMs: 10, lines: 2 });
      ({ pace } = line);
      return line.isWritten ? line.suppressed : "-";
    });
    expect(written).toEqual([0, 0, "-", "-", "-", 3, 0, "-", 1]);
  });
});
