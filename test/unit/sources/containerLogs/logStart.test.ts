/** Starts of `tailLines` and `since` in files that are held in memory; blocks are 64 KiB. */
import { describe, expect, it } from "vitest";
import { parseLogInstant, sinceBound } from "../../../../src/core/logs/sinceBound.ts";
import type { LogFile } from "../../../../src/fileSystem/logFile.ts";
import {
  laterStart,
  type SearchedFiles,
  startOfSince,
  startOfTail,
} from "../../../../src/sources/containerLogs/logStart.ts";

const BLOCK = 64 * 1024;

/** Each read returns at most `most` bytes; a file without a text cannot be read. */
function filesOf(texts: readonly (string | undefined)[], most = Infinity): SearchedFiles {
  return {
    count: texts.length,
    with: async (index, use) => {
      const text = texts[index];
      if (text === undefined) return undefined;
      const content = Buffer.from(text);
      const read = (into: Buffer, offset: number, length: number, position: number) => {
        const part = content.subarray(position, position + Math.min(length, most));
        part.copy(into, offset);
        return Promise.resolve({ bytesRead: part.length });
      };
      const file = { handle: { read }, identity: String(index), isCompressed: false };
      return use(file as unknown as LogFile, content.length);
    },
  };
}
const start = (index: number, offset: number, skippedLines = 0) => ({ index, offset, skippedLines });

describe("startOfTail", () => {
  const files = filesOf(["one\ntwo\n", undefined, "a\nb\nc\n"]);
  it.each([
    [0, start(2, 6)],
    [1, start(2, 4)],
    [2, start(2, 2)],
    [3, start(2, 0)],
    [4, start(0, 4)],
    [5, start(0, 0)],
    [6, start(0, 0)],
  ])("finds the last %i lines, over files that are gone", async (lines, expected) => {
    expect(await startOfTail(files, lines)).toEqual(expected);
  });

  it("finds lines that are longer than a block, whatever a read returns at once", async () => {
    const line = `${"x".repeat(BLOCK + 10)}\n`;
    for (const most of [Infinity, 1000]) {
      expect(await startOfTail(filesOf([line.repeat(3)], most), 2)).toEqual(start(0, line.length));
    }
  });

  it("counts no line that is not ended", async () => {
    expect(await startOfTail(filesOf(["a\nb\nc"]), 1)).toEqual(start(0, 2));
  });
});

describe("startOfSince", () => {
  const entry = (second: number, text = ""): string =>
    `2026-01-02T03:${String(Math.floor(second / 60)).padStart(2, "0")}:${String(second % 60).padStart(2, "0")}Z stdout F ${text}\n`;
  const since = (second: number) => {
    const instant = parseLogInstant(entry(second).slice(0, 20));
    if (instant === undefined) throw new Error("no instant");
    return sinceBound(instant);
  };
  /** 3,600 entries of 137 bytes, one a second: blocks of the file begin within entries. */
  const hour = Array.from({ length: 3600 }, (_, second) => entry(second, "x".repeat(105))).join("");

  it("is the first whole entry of the last block that begins before the time", async () => {
    const length = hour.length / 3600;
    for (const second of [0, 1, 500, 1234, 2400, 3599]) {
      const blocks = [];
      for (let end = hour.length; end > 0; end -= BLOCK) blocks.push(Math.max(0, end - BLOCK));
      const firstEntries = blocks.map((from) => Math.ceil(from / length));
      const expected = firstEntries.find((first) => first < second) ?? 0;
      expect(await startOfSince(filesOf([hour]), since(second))).toEqual(start(0, expected * length));
    }
  });

  it("is in the newest file that begins before the time", async () => {
    const files = filesOf([entry(1), entry(10), undefined, entry(20)]);
    const starts = await Promise.all([5, 15, 25].map((second) => startOfSince(files, since(second))));
    expect(starts).toEqual([start(0, 0), start(1, 0), start(3, 0)]);
  });

  it("passes malformed entries, and blocks without the start of an entry", async () => {
    const garbage = filesOf([entry(1), `garbage\n${entry(10)}`]);
    expect(await startOfSince(garbage, since(15))).toEqual(start(1, 8));
    const long = filesOf([`${entry(1)}${entry(2, "x".repeat(2 * BLOCK + 50))}`]);
    expect(await startOfSince(long, since(9))).toEqual(start(0, 0));
  });
});

describe("laterStart", () => {
  it.each([
    [start(1, 0), start(0, 9)],
    [start(1, 5), start(1, 4)],
    [start(1, 5, 3), start(1, 5, 2)],
    [start(0, 9), start(0, 0, 5)],
  ])("is %j of it and %j, in either order", (later, earlier) => {
    expect([laterStart(later, earlier), laterStart(earlier, later)]).toEqual([later, later]);
  });
});
