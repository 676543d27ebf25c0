import { expect, test } from "vitest";
import { perObject } from "../../../src/core/perObject.ts";

test("a result is computed once per object, undefined included", () => {
  const seen: object[] = [];
  const sizeOf = perObject((of: { readonly size?: number }) => {
    seen.push(of);
    return of.size;
  });
  const [sized, empty, twin] = [{ size: 3 }, {}, {}];

  expect([sizeOf(sized), sizeOf(empty), sizeOf(sized), sizeOf(empty), sizeOf(twin)]).toEqual([
    3,
    undefined,
    3,
    undefined,
    undefined,
  ]);
  expect(seen).toEqual([sized, empty, twin]);
});
