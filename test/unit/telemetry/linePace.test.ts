import { describe, expect, it } from "vitest";
import { FIRST_PACE, paceLine } from "../../../src/core/telemetry/linePace.ts";

describe("the pace of log lines", () => {
  it("writes so many of a period, and tells with the next one how many were left out", () => {
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
