import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { volumeWaits } from "../../../../src/core/timeline/volumeWaits.ts";
import { podVolumesOf, type VolumeWish } from "../../../../src/core/volume/podVolumes.ts";
import { type VolumeLayout, volumeKey } from "../../../../src/core/volume/volumeLayout.ts";
import type { ActualVolume } from "../../../../src/core/volume/volumePlan.ts";

const layoutOf = (name: string): VolumeLayout => ({
  name,
  plugin: "kubernetes.io/configmap",
  path: `/volumes/${name}`,
  isOwnDirectory: true,
  hasContent: true,
  isReadOnly: false,
  selinuxRelabel: false,
});
const actualOf = (name: string, more: Partial<ActualVolume>): readonly [string, ActualVolume] => {
  const { plugin, path } = layoutOf(name);
  return [
    volumeKey(layoutOf(name)),
    { plugin, name, path, isOwnDirectory: true, inputs: [], condition: "absent", ...more },
  ];
};
const failure = {
  operation: "setUp" as const,
  error: kubeletError("NotFound", 'configmap "web" not found'),
  count: 2,
  againAt: monotonicMs(9_000),
  inputs: [],
};
const resolved = (name: string): VolumeWish => ({ kind: "resolved", layout: layoutOf(name) });
const refused: VolumeWish = { kind: "refused", error: kubeletError("Unimplemented", "csi is not served") };

const VOLUMES = podVolumesOf({
  wishes: new Map<string, VolumeWish>([
    ["fails", resolved("fails")],
    ["begins", resolved("begins")],
    ["ready", resolved("ready")],
    ["claim", { kind: "pending" }],
    ["disk", refused],
  ]),
  actual: new Map([actualOf("fails", { failure }), actualOf("ready", { condition: "mounted" })]),
});

it("reports the reason and the next try of each volume that containers cannot use yet", () => {
  expect(volumeWaits({ state: "syncing" }, VOLUMES)).toEqual([
    { what: "Volume", cause: "begins: is being set up", forMs: undefined },
    { what: "Volume", cause: "claim: its objects are being looked up", forMs: undefined },
    { what: "Volume", cause: "disk: csi is not served", forMs: undefined },
    {
      what: "Volume",
      cause: 'fails: configmap "web" not found',
      forMs: undefined,
      next: { what: "next try", at: 9_000 },
    },
  ]);
});

it("reports the volumes to tear down of a terminated pod, and none of a terminating one", () => {
  expect(volumeWaits({ state: "terminated" }, { ...VOLUMES, wishes: new Map() }).map(({ cause }) => cause)).toEqual([
    'fails: configmap "web" not found',
    "ready: is being removed",
  ]);
  expect(volumeWaits({ state: "terminating" }, VOLUMES)).toEqual([]);
});
