import { expect, it } from "vitest";
import { createRecentIds } from "../../../src/dockershim/recentIds.ts";

it("keeps the newest ids up to its bound, each until it is deleted", () => {
  const ids = createRecentIds(2);
  for (const id of ["a", "b", "c"]) ids.add(id);
  expect(["a", "b", "b", "c"].map((id) => ids.delete(id))).toEqual([false, true, false, true]);
});
