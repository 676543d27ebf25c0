/** The version of its API that a CSI driver is used with, and refusals at its registration. */
import { describe, expect, it } from "vitest";
import { csiRefusal, csiVersionOf } from "../../../../src/core/csi/csiVersion.ts";

describe("csiVersionOf", () => {
  it.each([
    [["1.0.0"], [1, 0, 0]],
    [
      ["1.5.0", "1.10.0", "1.9.1"],
      [1, 10, 0],
    ],
    [
      ["0.3.0", "1.0"],
      [1, 0],
    ],
    [["v1.2-alpha"], [1, 2]],
    [
      ["2.0.0", "1.1.0"],
      [1, 1, 0],
    ],
    [
      ["nonsense", "1.1.0"],
      [1, 1, 0],
    ],
  ])("of %j is %j", (versions, expected) => {
    expect(csiVersionOf(versions)).toEqual({ ok: true, value: expected });
  });

  it.each([
    [["0.3.0"], "highest supported version reported is 0.3.0, must be v1.x"],
    [["2.0.0"], "could not find a highest supported version from versions ([2.0.0]) reported"],
    [["1"], "could not find a highest supported version from versions ([1]) reported"],
    [["01.0"], "could not find a highest supported version from versions ([01.0]) reported"],
  ])("refuses %j", (versions, message) => {
    expect(csiVersionOf(versions)).toMatchObject({ ok: false, error: { message } });
  });
});

describe("csiRefusal", () => {
  const plugin = { name: "csi.example.com", endpoint: "/e", versions: ["1.1.0"] };

  it("accepts a driver, and one that replaces a driver of an older version", () => {
    expect(csiRefusal(plugin, undefined)).toBeUndefined();
    expect(csiRefusal(plugin, [1, 0, 9])).toBeUndefined();
  });

  it.each([
    [
      ["0.2.0"],
      undefined,
      'None of the versions specified ["0.2.0"] are supported. err=highest supported version reported is 0.2.0, must be v1.x',
    ],
    [
      ["1.1.0"],
      [1, 1],
      'Another driver with the same name is already registered with a higher supported version: "1.1"',
    ],
  ])("refuses versions %j beside %j", (versions, registered, why) => {
    expect(csiRefusal({ ...plugin, versions }, registered)).toBe(
      `validation failed for CSI Driver csi.example.com at endpoint /e: kubernetes.io/csi: ValidatePlugin for CSI driver "csi.example.com" failed. ${why}`,
    );
  });
});
