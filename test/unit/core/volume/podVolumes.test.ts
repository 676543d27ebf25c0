import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import {
  isAllUnmounted,
  mountedLayouts,
  type PodVolumes,
  podVolumesOf,
  setUpFailure,
  unmountedVolumes,
  type VolumeWish,
  volumeStage,
  waitMessage,
} from "../../../../src/core/volume/podVolumes.ts";
import { type VolumeLayout, volumeKey } from "../../../../src/core/volume/volumeLayout.ts";
import { absentVolume } from "../../../../src/core/volume/volumePlan.ts";

const layout = (name: string): VolumeLayout => ({
  name,
  plugin: "kubernetes.io/empty-dir",
  path: `/pods/u/${name}`,
  isOwnDirectory: true,
  hasContent: false,
  isReadOnly: false,
  selinuxRelabel: true,
});
const resolved = (name: string): VolumeWish => ({ kind: "resolved", layout: layout(name) });
const refused = (message: string): VolumeWish => ({ kind: "refused", error: kubeletError("Unavailable", message) });
const volumes = (wishes: Readonly<Record<string, VolumeWish>>, mounted: readonly string[] = []): PodVolumes =>
  podVolumesOf({
    wishes: new Map(Object.entries(wishes)),
    actual: new Map(
      mounted.map((name) => [volumeKey(layout(name)), { ...absentVolume(layout(name)), condition: "mounted" }]),
    ),
  });

it.each<readonly [string, PodVolumes, string | undefined]>([
  ["all are mounted", volumes({ b: resolved("b"), a: resolved("a") }, ["a", "b"]), undefined],
  [
    "some are not, sorted",
    volumes({ b: resolved("b"), c: resolved("c"), a: resolved("a") }, ["c"]),
    "unmounted volumes=[a b], unattached volumes=[], failed to process volumes=[]: context deadline exceeded",
  ],
  [
    "a claim is not known yet",
    volumes({ b: resolved("b"), a: { kind: "pending" } }, ["b"]),
    "unmounted volumes=[a], unattached volumes=[], failed to process volumes=[a]: context deadline exceeded",
  ],
  [
    "no time will help",
    volumes({ b: refused("PVC is not bound"), a: refused("csi is not served") }),
    "unmounted volumes=[a b], unattached volumes=[], failed to process volumes=[a b]: PVC is not bound; csi is not served",
  ],
])("a pod waits with upstream's message when %s", (_, known, expected) => {
  const message = waitMessage([...known.wishes.keys()], known);
  expect(message).toBe(expected && `Unable to attach or mount volumes: ${expected}`);
});

/** Volumes that are on the node and no longer desired. */
const leftover = podVolumesOf({ wishes: new Map(), actual: volumes({ a: resolved("a") }, ["a"]).actual });

it.each<[string, PodVolumes, ReturnType<typeof volumeStage>, boolean]>([
  ["no volumes", volumes({}), "unmounted", true],
  ["a volume that is not mounted", volumes({ a: resolved("a") }), "mounting", false],
  ["a volume of two", volumes({ a: resolved("a"), b: resolved("b") }, ["a"]), "mounting", false],
  ["all volumes", volumes({ a: resolved("a") }, ["a"]), "mounted", false],
  ["a volume that is refused", volumes({ a: refused("no") }), "mounting", false],
  ["a volume that is left over", leftover, "unmounting", false],
])("the stage of a pod with %s", (_, known, stage, isGone) => {
  expect([volumeStage(known), isAllUnmounted(known)]).toEqual([stage, isGone]);
});

it("counts and names what containers cannot use yet", () => {
  const wishes = { c: resolved("c"), a: refused("no"), b: resolved("b"), d: { kind: "pending" } as const };
  const known = volumes(wishes, ["b"]);
  expect([known.unmounted, known.refused]).toEqual([3, 1]);
  expect(unmountedVolumes(["d", "c", "b", "unknown"], known)).toEqual(["c", "d", "unknown"]);
  expect(mountedLayouts(known)).toEqual(new Map([["b", layout("b")]]));
});

it("the runtime labels no files of a mounted volume with fixed labels", () => {
  const actual = { ...absentVolume(layout("b")), condition: "mounted", hasFixedLabels: true } as const;
  const known = podVolumesOf({
    wishes: new Map([["b", resolved("b")]]),
    actual: new Map([[volumeKey(layout("b")), actual]]),
  });
  expect(mountedLayouts(known)).toEqual(new Map([["b", { ...layout("b"), selinuxRelabel: false }]]));
});

it.each([
  [undefined, 'MountVolume.SetUp failed for volume "v" : why'],
  ["MountDevice", 'MountVolume.MountDevice failed for volume "v" : why'],
] as const)("a failure at step %s has upstream's message", (step, expected) => {
  const error = { ...kubeletError("Unavailable", "why"), ...(step && { step }) };
  expect(setUpFailure({ name: "v" }, error as never).message).toBe(expected);
});

it.each([
  ["SetUpDevice", "FailedMapVolume"],
  ["NodeAffinity check", "FailedMount"],
  ["WaitForAttach", "FailedMapVolume"],
])("a failure of a block volume at step %s has upstream's reason %s", (step, reason) => {
  const error = { ...kubeletError("Unavailable", "why"), step };
  const block = { device: "/dev/x", mapDir: "/m", map: "/m/u", link: "/l" };
  expect(setUpFailure({ name: "v", block }, error)).toEqual({
    reason,
    message: `MapVolume.${step} failed for volume "v" : why`,
  });
});

it("a volume that is not attached has upstream's reason, of a file system and of a device", () => {
  const error = { ...kubeletError("Unavailable", "why"), step: "Attach" };
  const block = { device: "/dev/x", mapDir: "/m", map: "/m/u", link: "/l" };
  expect([setUpFailure({ name: "v" }, error), setUpFailure({ name: "v", block }, error)]).toEqual(
    Array(2).fill({ reason: "FailedAttachVolume", message: 'AttachVolume.Attach failed for volume "v" : why' }),
  );
});
