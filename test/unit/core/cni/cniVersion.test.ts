import { describe, expect, it } from "vitest";
import { chooseCniVersion, isAtLeast } from "../../../../src/core/cni/cniVersion.ts";

describe("the version of a network", () => {
  it.each([
    ["that of cniVersion", "0.4.0", [], "0.4.0"],
    ["0.1.0 without one", undefined, [], "0.1.0"],
    ["0.1.0 for an empty one", "", [], "0.1.0"],
    ["the newest of cniVersions", undefined, ["0.4.0", "1.0.0", "0.3.1"], "1.0.0"],
    ["the newest of both fields", "1.1.0", ["1.0.0"], "1.1.0"],
    ["one that rxlet speaks", "9.0.0", ["2.0.0", "1.0.0"], "1.0.0"],
  ])("is %s", (_, single, several, expected) => {
    expect(chooseCniVersion(single, several)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ["a later one", "1.2.0", [], '"1.2.0"'],
    ["no version", "1.0", [], '"1.0"'],
    ["only later ones", undefined, ["2.0.0", "3.0.0"], '"2.0.0"'],
  ])("cannot be %s", (_, single, several, quoted) => {
    expect(chooseCniVersion(single, several)).toMatchObject({
      ok: false,
      error: {
        code: "InvalidArgument",
        message: `cniVersion ${quoted} is none of the versions 0.1.0 to 1.1.0`,
      },
    });
  });

  it("is compared by age, not by its text", () => {
    expect(isAtLeast("1.0.0", "0.4.0")).toBe(true);
    expect(isAtLeast("0.4.0", "0.4.0")).toBe(true);
    expect(isAtLeast("0.3.1", "0.4.0")).toBe(false);
  });
});
