/** The bits of packet marks that configuration files ask for. */
import { describe, expect, it } from "vitest";
import { markBitProblems, markBits } from "../../../src/cli/markBits.ts";
import { defaultConfiguration } from "../../../src/core/config/defaultConfiguration.ts";

const config = (given: Readonly<Record<string, number>>) => defaultConfiguration(given, () => false);

describe("markBits", () => {
  it("has no bits when no file sets a field, although both have defaults", () => {
    expect(config({})).toMatchObject({ iptablesMasqueradeBit: 14, iptablesDropBit: 15 });
    expect(markBits(config({}), [])).toEqual({});
    expect(markBits(config({}), [{ wire: { port: 1 } }, { wire: undefined }])).toEqual({});
  });

  it.each([
    [{ iptablesMasqueradeBit: 14 }, { masquerade: 14 }],
    [{ iptablesDropBit: 0 }, { drop: 0 }],
    [
      { iptablesMasqueradeBit: 3, iptablesDropBit: 4 },
      { masquerade: 3, drop: 4 },
    ],
  ])("has the bits of a file, %o, also when they are the defaults", (wire, expected) => {
    expect(markBits(config(wire), [{ wire }])).toEqual(expected);
  });

  it("has the bits of the last file, where null takes a field back", () => {
    const files = (...wires: readonly object[]) => wires.map((wire) => ({ wire }));
    expect(markBits(config({ iptablesDropBit: 9 }), files({}, { iptablesDropBit: 9 }, {}))).toEqual({ drop: 9 });
    expect(markBits(config({}), files({ iptablesDropBit: 9 }, { iptablesDropBit: null }))).toEqual({});
  });
});

describe("markBitProblems", () => {
  it("refuses one bit for both marks", () => {
    expect(markBitProblems({ masquerade: 9, drop: 9 })).toEqual([
      { path: ["iptablesDropBit"], reason: "must differ from iptablesMasqueradeBit, got 9 for both" },
    ]);
    expect(markBitProblems({ masquerade: 9, drop: 8 })).toEqual([]);
    expect(markBitProblems({ masquerade: 9 })).toEqual([]);
    expect(markBitProblems({})).toEqual([]);
  });
});
