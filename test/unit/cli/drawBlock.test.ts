import { describe, expect, it } from "vitest";
import { type DrawnBlock, drawBlock, EMPTY_BLOCK, fitLines, type TerminalSize } from "../../../src/cli/drawBlock.ts";
import { screenAfter } from "../../support/virtualTerminal.ts";

const SIZE: TerminalSize = { columns: 20, rows: 10 };

/** The screen after drawing these blocks one after the other. */
function drawn(...blocks: readonly (readonly string[])[]): readonly string[] {
  let block: DrawnBlock = EMPTY_BLOCK;
  const outputs = blocks.map((lines) => {
    const next = drawBlock(block, lines, SIZE);
    const output = next === block ? "" : next.output;
    block = next;
    return output;
  });
  return screenAfter("$ rxlet dev\n", ...outputs);
}

describe("drawBlock", () => {
  it.each<[rule: string, blocks: string[][], screen: string[]]>([
    ["draws below what was there", [["a", "b"]], ["a", "b"]],
    [
      "redraws in place",
      [
        ["a", "b"],
        ["a", "c"],
      ],
      ["a", "c"],
    ],
    ["erases the rest of a line that became shorter", [["long line"], ["hi"]], ["hi"]],
    ["grows", [["a"], ["a", "b", "c"]], ["a", "b", "c"]],
    ["erases lines that are gone", [["a", "b", "c"], ["z"]], ["z"]],
    [
      "keeps empty lines",
      [
        ["a", "", "b"],
        ["a", "", "c"],
      ],
      ["a", "", "c"],
    ],
  ])("%s", (_rule, blocks, screen) => {
    expect(drawn(...blocks)).toEqual(["$ rxlet dev", ...screen]);
  });

  it("is the same object when the screen shows the lines already", () => {
    const block = drawBlock(EMPTY_BLOCK, ["a"], SIZE);
    expect(drawBlock(block, ["a"], SIZE)).toBe(block);
  });

  it("never clears before it writes: no erase comes before its text", () => {
    const { output } = drawBlock(drawBlock(EMPTY_BLOCK, ["a", "b"], SIZE), ["c", "d"], SIZE);
    expect(output).toBe("\r\u001b[2Ac\u001b[K\nd\u001b[K\n\u001b[J");
  });

  it("starts above the lines the terminal wrapped when it became narrower", () => {
    const wide = drawBlock(EMPTY_BLOCK, ["x".repeat(18), "y"], SIZE);
    const { output } = drawBlock(wide, ["z"], { columns: 10, rows: 10 });
    expect(output.startsWith("\r\u001b[3A")).toBe(true);
  });

  it("does not start above the screen when it became lower", () => {
    const tall = drawBlock(EMPTY_BLOCK, ["a", "b", "c", "d", "e"], SIZE);
    const { output } = drawBlock(tall, ["z"], { columns: 20, rows: 3 });
    expect(output.startsWith("\r\u001b[2A")).toBe(true);
  });
});

describe("fitLines", () => {
  it.each<[rule: string, lines: string[], size: TerminalSize, fitted: string[]]>([
    ["keeps what fits", ["abc", "de"], { columns: 3, rows: 3 }, ["abc", "de"]],
    ["cuts wide lines", ["abcdef"], { columns: 4, rows: 3 }, ["abc\u2026"]],
    ["counts the lines left out", ["a", "b", "c", "d"], { columns: 20, rows: 4 }, ["a", "b", "... 2 more"]],
    ["survives a terminal without a size", ["abc", "d"], { columns: 0, rows: 0 }, ["\u2026"]],
  ])("%s", (_rule, lines, size, fitted) => {
    expect(fitLines(lines, size)).toEqual(fitted);
  });
});
