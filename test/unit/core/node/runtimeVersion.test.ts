import { describe, expect, it } from "vitest";
import { formatRuntimeVersion } from "../../../../src/core/node/runtimeVersion.ts";

describe("formatRuntimeVersion", () => {
  it.each([
    ["1.6.20", "1.6.20"],
    ["v2.1.0", "2.1.0"],
    ["1.6.20~ds1", "1.6.20"],
    ["v1.7.2-k3s1.27", "1.7.2-k3s1.27"],
    ["1.2.3-rc.1+build.5", "1.2.3-rc.1+build.5"],
    ["1.2.3+build ", "1.2.3+build"],
    ["1.2.3-01", "1.2.3"],
    ["1.02.3", "1.2.3"],
    ["19.03", "19.3"],
    ["1.2.3.4-x", "1.2.3.4"],
    ["1.2-x", "1.2"],
    ["1", undefined],
    ["01.2", undefined],
    ["", undefined],
    ["unknown", undefined],
  ])("formats %j as %j", (text, reported) => {
    expect(formatRuntimeVersion(text)).toBe(reported);
  });
});
