import { describe, expect, it } from "vitest";
import { firstBytes, joinedMessage, logTailMessage } from "../../../../src/core/runtime/terminationMessage.ts";

const line = (text: string, tag = "F", stream = "stdout") => `2026-01-01T00:00:00.123456789Z ${stream} ${tag} ${text}`;
const log = (...lines: readonly string[]) => lines.map((each) => `${each}\n`).join("");

describe("logTailMessage", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["an empty log", "", ""],
    ["one line", log(line("panic: no")), "panic: no\n"],
    ["both streams in the order of the log", log(line("out"), line("err", "F", "stderr")), "out\nerr\n"],
    ["an empty line of the program", log(line("a"), line(""), line("b")), "a\n\nb\n"],
    ["a line in parts", log(line("one ", "P"), line("two ", "P"), line("three")), "one two three\n"],
    ["a last part whose rest never came", log(line("whole"), line("part", "P")), "whole\npart"],
    ["leading spaces of the program", log(line("  indented")), "  indented\n"],
    ["further tags", log(line("text", "F:more")), "text\n"],
    ["a line that does not follow the format", log("garbage", line("fine")), "fine\n"],
    ["a tail that begins in the middle of a line", `:00Z stdout F cut\n${log(line("whole"))}`, "cut\nwhole\n"],
    ["a tail that begins in the middle of a text", `of a text\n${log(line("whole"))}`, "whole\n"],
    ["a log without the last line feed", line("end"), "end\n"],
  ];
  it.each(table)("%s", (_what, tail, expected) => {
    expect(logTailMessage(tail)).toBe(expected);
  });

  it("keeps the last 80 lines", () => {
    const lines = Array.from({ length: 100 }, (_, n) => line(`${n}`));
    const expected = Array.from({ length: 80 }, (_, n) => `${n + 20}\n`).join("");
    expect(logTailMessage(log(...lines))).toBe(expected);
  });

  it("keeps the last 2048 bytes", () => {
    const message = logTailMessage(log(...Array.from({ length: 60 }, (_, n) => line(String(n).padStart(99, "x")))));
    expect([message.length, message.slice(-100)]).toEqual([2048, `${"59".padStart(99, "x")}\n`]);
  });
});

it.each([
  ["é", 1500, 1023],
  ["€", 1000, 682],
  ["😀", 1000, 511],
])("logTailMessage begins with a whole character: %s", (character, count, kept) => {
  expect(logTailMessage(log(line(character.repeat(count))))).toBe(`${character.repeat(kept)}\n`);
});

it.each([
  ["é", 4, 2],
  ["é", 5, 2],
  ["€", 8, 2],
  ["€", 9, 3],
  ["😀", 7, 1],
  ["😀", 8, 2],
  ["€", 2, 0],
  ["€", 0, 0],
])("firstBytes of many %s in %i bytes has %i", (character, bytes, kept) => {
  expect(firstBytes(character.repeat(5), bytes)).toBe(character.repeat(kept));
});

it("firstBytes truncates to bytes of UTF-8, never within a character", () => {
  expect([firstBytes("abc", 3), firstBytes("abcd", 3), firstBytes("aé", 2), firstBytes("é", 1)]).toEqual([
    "abc",
    "abc",
    "a",
    "",
  ]);
});

it("joinedMessage appends the container's message to the runtime's", () => {
  expect([joinedMessage("a", "b"), joinedMessage("", "b"), joinedMessage("a", "")]).toEqual(["a: b", "b", "a"]);
});
