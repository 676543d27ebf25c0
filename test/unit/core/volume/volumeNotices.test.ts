import { expect, it } from "vitest";
import { alreadyMounted, mappedNotices, ownershipProgress } from "../../../../src/core/volume/volumeNotices.ts";

it("a mapped device has an event for each of its directories", () => {
  const told = 'MapVolume.MapPodDevice succeeded for volume "pv1"';
  expect(mappedNotices("pv1", { mapDir: "/m", map: "/m/u", link: "/pods/u/d/pv1" })).toEqual([
    { type: "Normal", reason: "SuccessfulMountVolume", message: `${told} globalMapPath "/m"` },
    { type: "Normal", reason: "SuccessfulMountVolume", message: `${told} volumeMapPath "/pods/u/d"` },
  ]);
});

it("a volume that another group already owns is reported, and no other", () => {
  expect([alreadyMounted("data", 5, 5), alreadyMounted("data", 5, 7)]).toEqual([
    [],
    [
      {
        reason: "AlreadyMountedVolume",
        message: "The requested fsGroup is 5, but the volume data has GID 7. The volume may not be shareable.",
      },
    ],
  ]);
});

it.each([
  [
    undefined,
    "is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods",
  ],
  [0, "processed 0 files."],
  [7, "processed 7 files."],
])("a change of ownership that has seen %s files says so", (seen, words) => {
  const separator = seen === undefined ? " " : ", ";
  expect(ownershipProgress("/pods/u/data", seen)).toEqual({
    reason: "VolumePermissionChangeInProgress",
    message: `Setting volume ownership for /pods/u/data${separator}${words}`,
  });
});
