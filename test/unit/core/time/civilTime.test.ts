import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  civilTime,
  formatInstant,
  formatInstantMs,
  parseInstant,
  rfc3339Nano,
} from "../../../../src/core/time/civilTime.ts";

describe("civilTime", () => {
  it("agrees with the platform's calendar over five centuries", () => {
    const wrong: number[] = [];
    for (let day = -80_000; day < 100_000; day += 37) {
      const at = day * 86_400_000 + 45_296_789;
      const text = new Date(at).toISOString();
      const t = civilTime(epochMs(at));
      const own = [t.year, t.month, t.day, t.hour, t.minute, t.second, t.micros / 1000];
      const platform = text
        .split(/[-T:.Z]/)
        .slice(0, 7)
        .map(Number);
      if (own.join() !== platform.join()) wrong.push(at);
    }
    expect(wrong).toEqual([]);
  });

  it("keeps microseconds", () => {
    expect(civilTime(epochMs(1_580_306_777_046.728))).toEqual({
      year: 2020,
      month: 1,
      day: 29,
      hour: 14,
      minute: 6,
      second: 17,
      micros: 46_728,
    });
  });
});

describe("parseInstant", () => {
  it.each([
    ["2026-11-21T01:34:52Z", Date.UTC(2026, 10, 21, 1, 34, 52)],
    ["2026-11-21T01:34:52.25Z", Date.UTC(2026, 10, 21, 1, 34, 52, 250)],
    ["2026-11-21T01:34:52+02:30", Date.UTC(2026, 10, 20, 23, 4, 52)],
    ["2026-11-21t01:34:52-01:00", Date.UTC(2026, 10, 21, 2, 34, 52)],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["2000-02-29T23:59:60z", Date.UTC(2000, 2, 1)],
    ["0001-01-01T00:00:00Z", -62_135_596_800_000],
    ["1970-01-01T00:00:00-00:30", 1_800_000],
    ["1970-01-01T00:00:00+01:00", -3_600_000],
    ["9999-12-31T23:59:59Z", Date.UTC(9999, 11, 31, 23, 59, 59)],
  ])("reads %s", (text, ms) => {
    expect(parseInstant(text)).toBe(ms);
  });

  it.each([
    "",
    "now",
    "2026-11-21",
    "2026-13-01T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-11-21T24:00:00Z",
    "2026-11-21T00:60:00Z",
    "2026-11-21T00:00:61Z",
    "2026-11-00T00:00:00Z",
    "2026-11-31T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-11-21T00:00:00.Z",
    "2026-11-21T01:34:52",
  ])("rejects %j", (text) => {
    expect(parseInstant(text)).toBe(undefined);
  });

  it("parses formatInstant's output", () => {
    const at = epochMs(Date.UTC(2026, 10, 21, 1, 34, 52));
    expect([formatInstant(at), parseInstant(formatInstant(at))]).toEqual(["2026-11-21T01:34:52Z", at]);
  });
});

it.each([
  [0, "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z"],
  [1_005.5, "1970-01-01T00:00:01.005Z", "1970-01-01T00:00:01.0055Z"],
  [-1, "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
  [Date.UTC(2026, 8, 9, 1, 2, 3, 120), "2026-09-09T01:02:03.120Z", "2026-09-09T01:02:03.12Z"],
  [-62_135_596_800_000, "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00Z"],
])("%d ms are %s to the millisecond and %s in full", (ms, toMs, inFull) => {
  expect([formatInstantMs(epochMs(ms)), rfc3339Nano(epochMs(ms))]).toEqual([toMs, inFull]);
});
