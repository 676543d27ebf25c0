import { describe, expect, it } from "vitest";
import { isNewerVersion } from "../../../../src/core/api/resourceVersion.ts";

describe("isNewerVersion", () => {
  it.each([
    ["10", "9", true],
    ["9", "10", false],
    ["10", "10", false],
    ["18446744073709551616", "18446744073709551615", true],
    ["1", "", true],
    ["", "1", false],
    ["v2", "1", false],
  ])("%s after %s: %s", (version, seen, isNewer) => expect(isNewerVersion(version, seen)).toBe(isNewer));
});
