import { describe, expect, it } from "vitest";
import { emptyHeader, readCriHeader } from "../../../../src/core/logs/criHeader.ts";

const BEFORE = "...";
/** Reads the header of a text that lies within a larger buffer. */
function read(text: string) {
  const header = emptyHeader();
  const bytes = new TextEncoder().encode(`${BEFORE}${text}Z stdout F `);
  const reading = readCriHeader(bytes, BEFORE.length, BEFORE.length + text.length, header);
  return { reading, header };
}
const HEADER = "2026-01-02T03:04:05.12+05:30 stderr P:x ";
const utc = (fraction: string) => `2026-01-02T03:04:05${fraction}Z stdout F `;

describe("the header of a log entry", () => {
  it.each([
    ["2026-01-02T03:04:05Z stdout F text", 19, 20, false, false, 30],
    [`${HEADER}text`, 22, 28, true, true, 40],
    ["2026-01-02T03:04:05-05:00 stdout P ", 19, 25, false, true, 35],
    ["2026-01-02T03:04:05.Z stdout Px ", 20, 21, false, false, 32],
    ["2026-01-02T03:04:05Z stdout  ", 19, 20, false, false, 29],
  ])("%j", (text, zoneAt, timestampEnd, isStderr, isPartial, contentAt) => {
    const [zone, end, content] = [zoneAt, timestampEnd, contentAt].map((at) => at + BEFORE.length);
    expect(read(text)).toEqual({
      reading: "whole",
      header: { zoneAt: zone, timestampEnd: end, isStderr, isPartial, contentAt: content },
    });
  });

  const places = Array.from(HEADER, (char, at) => [at, char] as const);
  it.each(places)("is cut before its place %i", (at) => {
    expect(read(HEADER.slice(0, at)).reading).toBe("cut");
  });

  // The tag may be any text, and a malformed fraction is a malformed zone.
  it.each(places.filter(([at]) => at < HEADER.indexOf("P:x")))(
    "is malformed with another character at its place %i, %j",
    (at) => {
      for (const other of ["!", "/", ":", "Q"].filter((each) => each !== HEADER[at])) {
        expect(read(`${HEADER.slice(0, at)}${other}${HEADER.slice(at + 1)}`).reading).toBe("malformed");
      }
    },
  );

  it.each([
    ["2026-01-02T03:04:05Z stdout F\n", "malformed"],
    ["2026-01-02T03:04:05Z stdout\n", "malformed"],
    ["2026-01-02T03:04:05Z\n", "malformed"],
    ["2026-01-02T03:04:05Z ", "cut"],
    ["2026-01-02T03:04:05Z stdout", "cut"],
    ["2026-01-02T03:04:05Z stdout F", "cut"],
    ["", "cut"],
  ])("%j is %s", (text, reading) => {
    expect(read(text).reading).toBe(reading);
  });

  it.each([
    ["a fraction up to 256 bytes is cut", `2026-01-02T03:04:05.${"1".repeat(236)}`, "cut"],
    ["a longer fraction is malformed", `2026-01-02T03:04:05.${"1".repeat(237)}`, "malformed"],
    ["a tag that ends at 256 bytes is whole", utc("").replace("F", "F".repeat(228)), "whole"],
    ["a longer tag is malformed", utc("").replace("F", "F".repeat(229)), "malformed"],
    ["a tag without an end within 256 bytes is cut", `${utc("").trimEnd()}${"F".repeat(227)}`, "cut"],
    ["a tag without an end within 257 bytes is cut too", `${utc("").trimEnd()}${"F".repeat(228)}`, "cut"],
    ["a tag without an end is malformed beyond", `${utc("").trimEnd()}${"F".repeat(229)}`, "malformed"],
  ])("%s", (_, text, reading) => {
    expect(read(text).reading).toBe(reading);
  });
});
