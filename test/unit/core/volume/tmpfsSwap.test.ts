import { expect, it } from "vitest";
import { hasTmpfsNoSwap } from "../../../../src/core/volume/tmpfsSwap.ts";

const WHOLE = "         0          0 4294967295";

it.each<[kernelVersion: string, uidMap: string | undefined, expected: boolean | undefined]>([
  ["6.4.0-rc1", WHOLE, true],
  ["10.0", WHOLE, true],
  ["6.4.0", undefined, true],
  ["6.8.0", "         0       1000          1", false],
  ["6.8.0", `${WHOLE}\n 1 1 1`, false],
  ["6", WHOLE, undefined],
  ["6.3.13", WHOLE, undefined],
  ["unknown", WHOLE, undefined],
])("a tmpfs on kernel %s with the user IDs %j can be kept out of swap: %s", (kernelVersion, uidMap, expected) => {
  expect(hasTmpfsNoSwap({ kernelVersion, uidMap })).toBe(expected);
});
