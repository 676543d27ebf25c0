import { expect, it } from "vitest";
import { isVersionAtLeast } from "../../../../src/core/resources/kernelVersion.ts";

it.each([
  ["6.4", "6.4", true],
  ["6.4.0-13-amd64", "6.4", true],
  ["6.4", "6.4.0", true],
  ["6.4", "6.4.1", false],
  ["6.3.99", "6.4", false],
  ["6.10", "6.4", true],
  ["5.99", "6.4", false],
  ["7", "6.4", true],
  ["6", "6.4", false],
  ["6", "6.1", false],
  [" v6.4", "6.4", true],
  ["", "6.4", undefined],
  ["linux-6.4", "6.4", undefined],
])("release %j compared with %s gives %j", (release, wanted, expected) => {
  expect(isVersionAtLeast(release, wanted)).toBe(expected);
});
