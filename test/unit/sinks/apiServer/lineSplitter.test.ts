import { describe, expect, it } from "vitest";
import { createLineSplitter } from "../../../../src/sinks/apiServer/lineSplitter.ts";

const split = (pieces: readonly (string | Buffer)[], maxBytes = 100) => {
  const splitter = createLineSplitter(maxBytes);
  const lines = pieces.map((piece) => splitter.push(typeof piece === "string" ? Buffer.from(piece) : piece));
  return { lines, unfinished: splitter.unfinishedBytes };
};

describe("lineSplitter", () => {
  it.each<[string, readonly (string | Buffer)[], readonly (readonly string[])[], number]>([
    ["several lines in a piece", ["a\nb\nc\n"], [["a", "b", "c"]], 0],
    ["a line in several pieces", ["a", "b", "c\nd"], [[], [], ["abc"]], 1],
    ["empty lines and carriage returns", ["\r\n\na\r\n"], [["a"]], 0],
    ["a letter cut in two", [Buffer.from("ä\n").subarray(0, 1), Buffer.from("ä\n").subarray(1)], [[], ["ä"]], 0],
  ])("reads %s", (_what, pieces, lines, unfinished) => {
    expect(split(pieces)).toEqual({ lines, unfinished });
  });

  it("takes a line of the bound, and refuses one that is longer before it ends", () => {
    expect(split(["12345\n"], 5).lines).toEqual([["12345"]]);
    expect(() => split(["123", "456"], 5)).toThrow(expect.objectContaining({ code: "ResourceExhausted" }));
  });
});
