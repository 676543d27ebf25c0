import { expect, it } from "vitest";
import { presentMessage, pulledMessage } from "../../../../src/core/image/imageMessages.ts";

it("durations of a pull are whole milliseconds", () => {
  expect(pulledMessage("a:1", 1_234.9, 61_000.5, 7n)).toBe(
    'Successfully pulled image "a:1" in 1.234s (1m1s including waiting). Image size: 7 bytes.',
  );
});

it("an image that the pod may access says so", () => {
  expect([presentMessage("a:1", false), presentMessage("a:1", true)]).toEqual([
    'Container image "a:1" already present on machine',
    'Container image "a:1" already present on machine and can be accessed by the pod',
  ]);
});
