import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatEntries, MAX_LINE_BYTES, openCriLog } from "../../../src/embeddedRuntime/criLog.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { rfc3339Nano, wallClockNs } from "../../../src/criServer/wallClockNs.ts";

const AT = "2026-01-02T03:04:05.000000006Z";
const format = (rest: string, chunk: string): readonly [string, string] => {
  const { bytes, rest: unfinished } = formatEntries("stdout", Buffer.from(rest), Buffer.from(chunk), AT);
  return [bytes.toString(), unfinished.toString()];
};
const entry = (tag: "F" | "P", text: string): string => `${AT} stdout ${tag} ${text}\n`;
const long = "x".repeat(MAX_LINE_BYTES);

describe("openCriLog", () => {
  const dir = temporaryDirectory();

  it("appends to a regular file", () => {
    const file = join(dir(), "pod/0.log");
    const log = openCriLog(file, () => {});
    log.write("stdout", Buffer.from("one\n"));
    expect(fs.readFileSync(file, "utf8")).toMatch(/ stdout F one\n$/);
  });

  it.each([
    ["a FIFO", (path: string) => void execFileSync("mkfifo", [path])],
    ["a link", (path: string) => fs.symlinkSync("/etc/hostname", path)],
    ["a directory", (path: string) => fs.mkdirSync(path)],
  ])("refuses %s at once", (_kind, make) => {
    const file = join(dir(), "0.log");
    make(file);
    expect(() => openCriLog(file, () => {})).toThrow();
  });
});

describe("formatEntries", () => {
  it.each([
    ["nothing", "", "", "", ""],
    ["an unfinished line is kept", "", "abc", "", "abc"],
    ["a finished line is an entry", "", "abc\n", entry("F", "abc"), ""],
    ["an empty line is an entry", "", "\n\n", entry("F", "") + entry("F", ""), ""],
    ["what was unfinished comes first", "ab", "c\nd", entry("F", "abc"), "d"],
    ["the newline may come alone", "abc", "\n", entry("F", "abc"), ""],
    ["a line of the greatest length is whole", "", `${long}\n`, entry("F", long), ""],
    ["one byte more makes two parts", "", `${long}y\n`, entry("P", long) + entry("F", "y"), ""],
    ["an unfinished line of the greatest length is kept", "", long, "", long],
    ["an unfinished line beyond it is cut", "", `${long}y`, entry("P", long), "y"],
    ["a line of three parts", long, `${long}y\nz`, entry("P", long) + entry("P", long) + entry("F", "y"), "z"],
    ["carriage returns are text", "", "a\r\n", entry("F", "a\r"), ""],
  ])("%s", (_rule, rest, chunk, bytes, unfinished) => {
    expect(format(rest, chunk)).toEqual([bytes, unfinished]);
  });

  it("copies data from a chunk whose buffer is reused", () => {
    const chunk = Buffer.from("abc");
    const { rest } = formatEntries("stderr", Buffer.alloc(0), chunk, AT);
    chunk.fill("x");
    expect(rest.toString()).toBe("abc");
  });
});

describe("timestamps", () => {
  it("are RFC 3339 with nine digits", () => {
    expect(rfc3339Nano(1_700_000_000_123_456_789n)).toBe("2023-11-14T22:13:20.123456789Z");
    expect(rfc3339Nano(1_700_000_000_000_000_001n)).toBe("2023-11-14T22:13:20.000000001Z");
  });

  it("are distinct and ordered even within a millisecond", () => {
    const times = Array.from({ length: 1000 }, () => wallClockNs());
    expect(times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0n))).toBe(true);
  });
});
