import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  inhibitDelayMs,
  inhibitDelaySetting,
  prepareForShutdown,
} from "../../../../src/core/shutdown/logindAnswers.ts";
import { parseShutdownState, shutdownStateText } from "../../../../src/core/shutdown/shutdownState.ts";

const AT = epochMs(Date.UTC(2026, 0, 2, 3, 4, 5, 600));

describe("the state file of shutdowns", () => {
  it("has upstream's format, in which a missing time is the zero time", () => {
    expect(shutdownStateText({ startedAt: AT })).toBe(
      '{"startTime":"2026-01-02T03:04:05.6Z","endTime":"0001-01-01T00:00:00Z"}',
    );
    expect(parseShutdownState(shutdownStateText({ startedAt: AT, endedAt: AT }))).toEqual({
      startedAt: AT,
      endedAt: AT,
    });
    expect(parseShutdownState(shutdownStateText({}))).toEqual({});
  });

  it("takes the offsets of another time zone, and no other format", () => {
    const text = '{"startTime":"2026-01-02T05:04:05.6+02:00","endTime":"soon"}';
    expect(parseShutdownState(text)).toEqual({ startedAt: AT });
    for (const other of ["", "null", "[", '"2026"']) expect(parseShutdownState(other)).toBeUndefined();
  });
});

describe("answers of the login manager", () => {
  it("has delays in microseconds, the largest of which is no limit", () => {
    expect([5_000_000, 0, 18_446_744_073_709_551_615, -1, "5", undefined].map(inhibitDelayMs)).toEqual([
      ...[5_000, 0, Infinity],
      ...[undefined, undefined, undefined],
    ]);
    expect(inhibitDelaySetting(40)).toMatch(/^#.*\n\[Login\]\nInhibitDelayMaxSec=40\n$/);
  });

  it.each([
    ['{"member":"PrepareForShutdown","payload":{"type":"b","data":[true]}}', true],
    ['{"member":"PrepareForShutdown","payload":{"type":"b","data":[false]}}', false],
    ['{"member":"PrepareForShutdown","payload":{"type":"s","data":["true"]}}', undefined],
    ['{"member":"PrepareForSleep","payload":{"type":"b","data":[true]}}', undefined],
    ['{"member":"PrepareForShutdown","payload":null}', undefined],
    ["null", undefined],
    ["{", undefined],
  ])("reads the signal %s", (line, expected) => {
    expect(prepareForShutdown(line)).toBe(expected);
  });
});
