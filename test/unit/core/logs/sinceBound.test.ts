import { describe, expect, it } from "vitest";
import { parseLogInstant, sinceBound } from "../../../../src/core/logs/sinceBound.ts";

/** Whether an entry with this timestamp is older than the time; the entry begins within its buffer. */
function isOlder(entry: string, since: string): boolean {
  const instant = parseLogInstant(since);
  if (instant === undefined) throw new Error(`no instant: ${since}`);
  const before = "x\n";
  const bytes = new TextEncoder().encode(`${before}${entry} stdout F text`);
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.exec(entry);
  return sinceBound(instant)(bytes, before.length, { zoneAt: before.length + (zone?.index ?? 0) } as never);
}

describe("parseLogInstant", () => {
  it.each([
    ["2026-01-02T03:04:05Z", { seconds: 1_767_323_045, nanos: 0 }],
    ["2026-01-02T03:04:05.5Z", { seconds: 1_767_323_045, nanos: 500_000_000 }],
    ["2026-01-02T03:04:05.123456789Z", { seconds: 1_767_323_045, nanos: 123_456_789 }],
    ["2026-01-02T03:04:05.1234567899Z", { seconds: 1_767_323_045, nanos: 123_456_789 }],
    ["2026-01-02T04:04:05.000000001+01:00", { seconds: 1_767_323_045, nanos: 1 }],
    ["yesterday", undefined],
  ])("parses %s", (text, expected) => {
    expect(parseLogInstant(text)).toEqual(expected);
  });
});

describe("sinceBound", () => {
  it.each([
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", false],
    ["2026-01-02T03:04:04Z", "2026-01-02T03:04:05Z", true],
    ["2026-01-02T03:04:06Z", "2026-01-02T03:04:05Z", false],
    ["2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", true],
    ["2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.2Z", true],
    ["2026-01-02T03:04:05.2Z", "2026-01-02T03:04:05.15Z", false],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000001Z", true],
    ["2026-01-02T03:04:05.000000001Z", "2026-01-02T03:04:05Z", false],
    ["2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.12345679Z", true],
    // Zones ahead of and behind UTC, with minutes.
    ["2026-01-02T04:04:05+01:00", "2026-01-02T03:04:05Z", false],
    ["2026-01-02T04:04:04+01:00", "2026-01-02T03:04:05Z", true],
    ["2026-01-02T08:34:05+05:30", "2026-01-02T03:04:05Z", false],
    ["2026-01-02T08:34:04+05:30", "2026-01-02T03:04:05Z", true],
    ["2026-01-01T23:34:05-03:30", "2026-01-02T03:04:05Z", false],
    ["2026-01-01T23:34:04-03:30", "2026-01-02T03:04:05Z", true],
    ["2026-01-02T14:04:05+11:00", "2026-01-02T03:04:05Z", false],
    ["2026-01-02T14:04:04.999999999+11:00", "2026-01-02T03:04:05Z", true],
  ])("an entry of %s since %s is older: %s", (entry, since, expected) => {
    expect(isOlder(entry, since)).toBe(expected);
  });

  it("compares entries of more zones than it remembers", () => {
    const isBefore = sinceBound({ seconds: 1_767_323_045, nanos: 0 });
    const entries = Array.from({ length: 24 * 60 }, (_, minutes) => {
      const at = new Date((1_767_323_045 + minutes * 60) * 1000).toISOString().slice(0, 19);
      const zone = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
      return new TextEncoder().encode(`${at}+${zone}`);
    });
    for (const bytes of [...entries, ...entries]) expect(isBefore(bytes, 0, { zoneAt: 19 } as never)).toBe(false);
  });
});
