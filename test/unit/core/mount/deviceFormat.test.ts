import { describe, expect, it } from "vitest";
import { BLKID_NOTHING, blkidArgs, formatOf, FSCK_DAMAGED, mkfsArgs } from "../../../../src/core/mount/deviceFormat.ts";

describe("the format of a block device", () => {
  it.each([
    ["a file system", "DEVNAME=/dev/loop0\nTYPE=ext4\n", "ext4"],
    ["partitions", "DEVNAME=/dev/vda\nPTTYPE=gpt\n", "unknown data, probably partitions"],
    ["both, which is not to be mounted", "TYPE=vfat\nPTTYPE=dos\n", "unknown data, probably partitions"],
    ["something that is neither", "DEVNAME=/dev/loop0\n", ""],
    ["unknown", "blkid: error: /dev/loop0: Input/output error\n", undefined],
  ])("is %s", (_what, said, expected) => {
    expect(formatOf(said)).toBe(expected);
  });
});

describe("mkfs", () => {
  it.each([
    ["ext4", ["-F", "-m0", "/dev/x"]],
    ["ext3", ["-F", "-m0", "/dev/x"]],
    ["xfs", ["-f", "/dev/x"]],
    ["btrfs", ["/dev/x"]],
  ])("needs no confirmation: %s", (fsType, expected) => {
    expect(mkfsArgs(fsType, "/dev/x")).toEqual(expected);
  });
});

it("blkid probes file system and partitions, and the codes are those of blkid(8) and fsck(8)", () => {
  expect(blkidArgs("/dev/x").join(" ")).toBe("-p -s TYPE -s PTTYPE -o export /dev/x");
  expect([BLKID_NOTHING, FSCK_DAMAGED]).toEqual([2, 4]);
});
