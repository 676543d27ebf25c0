import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { OPERATIONS, withCurrentTables, withoutPadding } from "../../../scripts/generateOperations.ts";

describe("docs/operations.md", () => {
  it("has the tables of this program: `npm run docs` writes them", () => {
    const written = readFileSync(OPERATIONS, "utf8");
    expect(withoutPadding(written)).toBe(withoutPadding(withCurrentTables(written)));
  });
});
