import { describe, expect, it } from "vitest";
import { ownershipChange, rootMismatches } from "../../../../src/core/mount/ownership.ts";

const FS_GROUP = 2_000;
const directory = (mode: number, gid = FS_GROUP) => ({ isDirectory: true, mode, gid });
const file = (mode: number, gid = FS_GROUP) => ({ isDirectory: false, mode, gid });

describe("changing the group of a volume", () => {
  it.each([
    ["a directory may be read, written and entered, and keeps the group", directory(0o755, 0), false, FS_GROUP, 0o2775],
    ["a directory to read may be read and entered", directory(0o700, 0), true, FS_GROUP, 0o2750],
    ["a file may be read and written", file(0o600, 0), false, FS_GROUP, 0o660],
    ["a file to read may be read", file(0o400, 0), true, FS_GROUP, 0o440],
    ["a program stays one", file(0o755, 0), false, FS_GROUP, 0o775],
    ["setuid, which chown removes, is restored", file(0o4775, 0), false, FS_GROUP, 0o4775],
    ["what has the group and the permissions stays", directory(0o2775), false, undefined, undefined],
    ["setuid that nothing takes stays", file(0o4770), false, undefined, undefined],
    ["a mode alone is changed", file(0o640), false, undefined, 0o660],
    ["a group alone is changed", file(0o660, 7), false, FS_GROUP, undefined],
  ])("%s", (_, entry, readOnly, gid, mode) => {
    expect(ownershipChange(entry, FS_GROUP, readOnly)).toEqual({ gid, mode });
  });

  it.each([
    ["as it would be made", directory(0o2770), false, false],
    ["more than is needed", directory(0o2777), false, false],
    ["of another group", directory(0o2770, 0), false, true],
    ["without setgid", directory(0o770), false, true],
    ["not to be written", directory(0o2750), false, true],
    ["not to be written, nor needed to", directory(0o2550), true, false],
    ["not to be entered", directory(0o2660), false, true],
    ["a file", file(0o2770), false, true],
  ])("is needed for a root that is %s", (_, root, readOnly, expected) => {
    expect(rootMismatches(root, FS_GROUP, readOnly)).toBe(expected);
  });
});
