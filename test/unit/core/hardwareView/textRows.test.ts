import { describe, expect, it } from "vitest";
import { moreRow, ownedRow, wrapped } from "../../../../src/core/hardwareView/textRows.ts";

describe("wrapped", () => {
  it("breaks after spaces and commas, and indents the next lines", () => {
    expect(wrapped("CPUs  0-3,8-11,16-19 and more", { columns: 16, indent: 6 })).toEqual([
      "CPUs  0-3,8-11,",
      "      16-19 and",
      "      more",
    ]);
  });

  it("breaks a word that is longer than a line", () => {
    expect(wrapped("x".repeat(25), { columns: 10, indent: 0 })).toEqual([
      "x".repeat(10),
      "x".repeat(10),
      "x".repeat(5),
    ]);
  });

  it("cuts a text of more than six lines", () => {
    const lines = wrapped(Array.from({ length: 5_000 }, (_, cpu) => 2 * cpu).join(","), { columns: 40, indent: 4 });
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toMatch(/ …$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it("keeps control characters of foreign names out of the terminal", () => {
    expect(wrapped("a\u001b[2Jb", { columns: 40, indent: 0 })).toEqual(["a [2Jb"]);
  });
});

describe("ownedRow", () => {
  it("has both in one line where they fit", () => {
    expect(ownedRow("CPU 1-2", "demo/web main", { columns: 80, indent: 4 })).toEqual([
      "    CPU 1-2               demo/web main",
    ]);
  });

  it("has the owner below on a narrow terminal", () => {
    expect(ownedRow("CPU 1-2", "demo/a-long-name main", { columns: 40, indent: 4 })).toEqual([
      "    CPU 1-2",
      "        demo/a-long-name main",
    ]);
  });
});

it("counts what is left out", () => {
  expect([moreRow(0, 2), moreRow(3, 2)]).toEqual([[], ["  and 3 more"]]);
});
