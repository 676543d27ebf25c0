import { expect, it } from "vitest";
import { createRecentKeys } from "../../../src/core/recentKeys.ts";

it("keeps the newest keys up to its bound, each until it is deleted", () => {
  const keys = createRecentKeys(2);
  for (const key of ["a", "b", "c"]) keys.add(key);
  expect(["a", "b", "c"].map((key) => keys.has(key))).toEqual([false, true, true]);
  expect(["a", "b", "b", "c"].map((key) => keys.delete(key))).toEqual([false, true, false, true]);
});
