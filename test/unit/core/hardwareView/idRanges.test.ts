import { expect, it } from "vitest";
import { idRanges } from "../../../../src/core/hardwareView/idRanges.ts";

it.each([
  [[], []],
  [
    ["nic-2", "nic-0", "nic-1", "nic-7"],
    ["nic-[0-2]", "nic-7"],
  ],
  [
    ["a1", "b1", "a2", "b2"],
    ["a[1-2]", "b[1-2]"],
  ],
  [["3", "4"], ["[3-4]"]],
  [["gpu-01", "gpu-02"], ["gpu-0[1-2]"]],
  [
    ["GPU-7f3a-e", "GPU-7f3b-e"],
    ["GPU-7f3a-e", "GPU-7f3b-e"],
  ],
  [["n9007199254740993", "n9007199254740992"], ["n9007199[254740992-254740993]"]],
])("joins consecutive numbers of %j", (ids, ranges) => {
  expect(idRanges(ids)).toEqual(ranges);
});

it("cuts ids of any length, and takes 10,000 devices in one range", () => {
  expect(idRanges(["x".repeat(5_000)])).toEqual([`${"x".repeat(127)}…`]);
  expect(idRanges(Array.from({ length: 10_000 }, (_, index) => `dev-${9_999 - index}`))).toEqual(["dev-[0-9999]"]);
});
