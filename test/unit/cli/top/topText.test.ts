import { describe, expect, it } from "vitest";
import {
  MAX_CELL,
  MAX_LINE,
  MAX_LINES,
  MAX_PAGE,
  pageLines,
  shown,
  shownTable,
  wrappedLines,
} from "../../../../src/cli/top/topText.ts";

describe("texts of rxlet top", () => {
  it("cannot move the cursor, hide, or reorder what is around them", () => {
    expect(shown("a\u001b[2Jb\nc\u202egnp\u200b\u009b1m")).toBe("a?[2Jb?c?gnp??1m");
  });

  it("have a bound in a cell of a table", () => {
    expect([shown("x".repeat(MAX_CELL)).length, shown("x".repeat(MAX_CELL + 1))]).toEqual([
      MAX_CELL,
      `${"x".repeat(MAX_CELL - 1)}\u2026`,
    ]);
    expect(shownTable([["a", "b".repeat(2 * MAX_CELL)]])[0]?.length).toBe(MAX_CELL + 3);
  });
});

describe("the lines of a page", () => {
  it("have no colours, carriage returns and tabs", () => {
    expect(pageLines("\u001b[31mred\u001b[0m\r\na\tb\n\n", "end")).toEqual(["red", "a    b", ""]);
  });

  it("have bounds: the end of a log and the beginning of a timeline are kept", () => {
    const many = Array.from({ length: MAX_LINES + 1 }, (_, at) => String(at)).join("\n");
    const [first, last] = [pageLines(many, "beginning"), pageLines(many, "end")];
    expect([first.length, first[0], last.length, last[0]]).toEqual([MAX_LINES, "0", MAX_LINES, "1"]);
    expect(pageLines("x".repeat(MAX_LINE + 1), "end")[0]?.length).toBe(MAX_LINE);
    const long = `first\n${"x".repeat(MAX_PAGE)}\nlast`;
    expect([pageLines(long, "beginning")[0], pageLines(long, "end").at(-1)]).toEqual(["first", "last"]);
    expect([pageLines(long, "beginning").length, pageLines(long, "end").length]).toEqual([2, 2]);
  });

  it("are wrapped to the screen, but never to less than a few words", () => {
    expect(wrappedLines(["a".repeat(25), "", "b"], 20)).toEqual(["a".repeat(20), "aaaaa", "", "b"]);
    expect(wrappedLines(["a".repeat(25)], 3)).toEqual(["a".repeat(20), "aaaaa"]);
  });
});
