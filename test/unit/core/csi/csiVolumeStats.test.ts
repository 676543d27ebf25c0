import { describe, expect, it } from "vitest";
import { csiBlockPlaces } from "../../../../src/core/csi/csiBlockPlaces.ts";
import { csiVolumeFigures, MAX_CONDITION_CHARS, volumeStatsRequest } from "../../../../src/core/csi/csiVolumeStats.ts";
import type { VolumeUsage } from "../../../../src/gen/csi.ts";

const usage = (unit: VolumeUsage["unit"], total: bigint, used: bigint, available: bigint): VolumeUsage => ({
  ...{ unit, total, used, available },
});
const [BYTES, INODES] = [1, 2] as const;
const MAX = 2n ** 63n - 1n;

/** Returns capacity, used and available bytes, then all, used and free inodes; or the error. */
function figuresOf(...usages: readonly VolumeUsage[]) {
  const found = csiVolumeFigures({ usage: usages, volumeCondition: undefined });
  if (!found.ok) return found.error.message;
  const { used, space } = found.value;
  return [
    ...[space.capacityBytes, used.bytes, space.availableBytes],
    ...[space.inodes, used.inodes, space.inodesFree],
  ].join(" ");
}

describe("statistics of a CSI driver", () => {
  it.each([
    ["bytes and inodes", [usage(BYTES, 10n, 4n, 6n), usage(INODES, 3n, 1n, 2n)], "10 4 6 3 1 2"],
    ["bytes alone, as of a device", [usage(BYTES, 10n, 0n, 0n)], "10 0 0 0 0 0"],
    ["inodes alone", [usage(INODES, 3n, 1n, 2n)], "0 0 0 3 1 2"],
    ["the last of two for a unit", [usage(BYTES, 1n, 1n, 1n), usage(BYTES, 10n, 4n, 6n)], "10 4 6 0 0 0"],
    ["no unit that is known", [usage(0, 1n, 1n, 1n), usage(9 as never, 2n, 2n, 2n)], "0 0 0 0 0 0"],
    ["the largest figures", [usage(BYTES, MAX, MAX, MAX)], `${MAX} ${MAX} ${MAX} 0 0 0`],
    ["as many usages as are read", Array.from({ length: 16 }, () => usage(BYTES, 1n, 0n, 1n)), "1 0 1 0 0 0"],
  ])("have %s", (_what, usages, expected) => {
    expect(figuresOf(...usages)).toBe(expected);
  });

  it.each([
    ["without usages", [], "failed to get usage from response. usage is nil"],
    [
      "with too many usages",
      Array.from({ length: 17 }, () => usage(BYTES, 1n, 0n, 1n)),
      "the driver gives more than 16 usages of a volume",
    ],
    ["with negative bytes", [usage(BYTES, 10n, -4n, 6n)], "the driver gives -4 as usage of a volume"],
    [
      "with negative inodes",
      [usage(BYTES, 10n, 4n, 6n), usage(INODES, 3n, 1n, -2n)],
      "the driver gives -2 as usage of a volume",
    ],
  ])("are refused %s", (_what, usages, expected) => {
    expect(figuresOf(...usages)).toBe(expected);
  });

  it.each([
    ["is that of the driver", { abnormal: true, message: "bad disk" }, true, { abnormal: true, message: "bad disk" }],
    ["is good without a condition, as upstream", undefined, true, { abnormal: false, message: "" }],
    ["is unknown for a driver that reports none", { abnormal: true, message: "bad disk" }, false, undefined],
  ])("with health that %s", (_what, volumeCondition, reportsCondition, expected) => {
    const answer = { usage: [usage(BYTES, 1n, 0n, 1n)], volumeCondition };
    const found = csiVolumeFigures(answer, reportsCondition);
    expect(found.ok && found.value.condition).toEqual(expected);
  });

  it.each([
    ["at the bound stays", "x".repeat(MAX_CONDITION_CHARS), "x".repeat(MAX_CONDITION_CHARS)],
    ["beyond it is cut", "x".repeat(1_000_000), "x".repeat(MAX_CONDITION_CHARS)],
    [
      "keeps no half of a character",
      `${"x".repeat(MAX_CONDITION_CHARS - 1)}😀`,
      `${"x".repeat(MAX_CONDITION_CHARS - 1)}\ufffd`,
    ],
  ])("with a message that %s", (_what, message, expected) => {
    const answer = { usage: [usage(BYTES, 1n, 0n, 1n)], volumeCondition: { abnormal: true, message } };
    const found = csiVolumeFigures(answer, true);
    expect(found.ok && found.value.condition?.message).toBe(expected);
  });

  it("are asked for by the mount point, or the device as bound for the pod", () => {
    const published = { handle: "h", target: "/pods/u/mount" };
    const block = csiBlockPlaces({ rootDir: "/k" }, "u", "pv");
    const device = "/k/plugins/kubernetes.io/csi/volumeDevices/pv/dev/u";
    const rest = { volumeId: "h", stagingTargetPath: "" };
    expect(volumeStatsRequest(published)).toEqual({ ...rest, volumePath: "/pods/u/mount" });
    expect(volumeStatsRequest({ ...published, block })).toEqual({ ...rest, volumePath: device });
  });
});
