import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { type PodVolumes, podVolumesOf, type VolumeWish, waitMessage } from "../../../../src/core/volume/podVolumes.ts";
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
