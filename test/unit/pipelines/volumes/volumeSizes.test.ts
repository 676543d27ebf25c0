import { expect, it } from "vitest";
import { createVolumeSizes } from "../../../../src/pipelines/volumes/volumeSizes.ts";

it("a size belongs to all pods with the volume, and is forgotten with the last", () => {
  const sizes = createVolumeSizes();
  const first = sizes.hold("v", "a", 1n);
  first.size = 2n;
  expect(sizes.hold("v", "b", 1n)).toBe(first);
  sizes.drop("v", "a");
  expect(sizes.of("v")).toMatchObject({ size: 2n, hasFailed: false, isInUse: false });
  sizes.drop("v", "b");
  sizes.drop("other", "b");
  expect(sizes.of("v")).toBeUndefined();
});
