import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createNodeState } from "../../../src/state/nodeState.ts";

const root = new URL("../../../", import.meta.url);
const text = readFileSync(new URL("docs/architecture.md", root), "utf8");

/** Cell and writer of each row of the table of cells. */
const rows = [...text.matchAll(/^\| `(\w+)` +\| `(pipelines\/[\w/]+)` +\|/gm)].map(([, cell = "", writer = ""]) => ({
  cell,
  writer,
}));

describe("the table of cells in docs/architecture.md", () => {
  it("has every cell of the node once", () => {
    const { sequence: _, ...cells } = createNodeState();
    expect(rows.map(({ cell }) => cell).toSorted()).toEqual(Object.keys(cells).toSorted());
  });

  it.each(rows)("names a writer of $cell that exists", ({ writer }) => {
    expect(existsSync(new URL(`src/${writer}.ts`, root))).toBe(true);
  });
});
