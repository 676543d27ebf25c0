import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { NO_VOLUMES, type PodVolumes, podVolumesOf, type VolumeWish } from "../../../../src/core/volume/podVolumes.ts";
import type { VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import type { ActualVolume } from "../../../../src/core/volume/volumePlan.ts";
import { volumesText } from "../../../../src/core/volume/volumesText.ts";
import { volumesView } from "../../../../src/core/volume/volumesView.ts";

const NOW = { wall: epochMs(1_700_000_000_000), mono: monotonicMs(10_000) };
const layout = (name: string, plugin: string, more: Partial<VolumeLayout> = {}): VolumeLayout => ({
  name,
  plugin: `kubernetes.io/${plugin}`,
  path: `/pods/u/${name}`,
  isOwnDirectory: true,
  hasContent: false,
  isReadOnly: false,
  selinuxRelabel: false,
  ...more,
});
const wanted = (...given: Parameters<typeof layout>): VolumeWish => ({ kind: "resolved", layout: layout(...given) });
const there = (name: string, plugin: string, more: Partial<ActualVolume> = {}): readonly [string, ActualVolume] => [
  `kubernetes.io/${plugin}/${name}`,
  { ...layout(name, plugin), inputs: [], condition: "mounted", ...more },
];
const failed = (message: string, count: number) => ({
  failure: {
    operation: "setUp" as const,
    error: kubeletError("Io", message),
    count,
    againAt: monotonicMs(12_500),
    inputs: [],
  },
});
const pod = (name: string, volumes: PodVolumes) => ({ uid: podUid(`uid-${name}`), namespace: "demo", name, volumes });
const refusal = kubeletError("Unimplemented", "csi is not served");
const nfs = { fileSystem: { source: "server:/export", fsType: "nfs", options: [] } };

const WEB = pod(
  "web",
  podVolumesOf({
    wishes: new Map<string, VolumeWish>([
      ["settings", wanted("settings", "configmap")],
      ["share", wanted("pv-7", "nfs", nfs)],
      ["logo", wanted("logo", "image", { path: "", image: { reference: "registry/logo:1", pullPolicy: "" } })],
      ["claim", { kind: "pending" }],
      ["disk", { kind: "refused", error: refusal }],
    ]),
    actual: new Map([
      there("settings", "configmap", failed('configmap "settings" not found', 1)),
      there("pv-7", "nfs", { condition: "uncertain", ...failed("exit status 32:\nno \u001b[31mroute", 3) }),
      there("cache", "empty-dir"),
    ]),
  }),
);
const ORPHAN = {
  uid: "gone",
  path: "/pods/gone",
  reason: "target is busy",
  volumes: { ...NO_VOLUMES, actual: new Map([there("data", "empty-dir", { condition: "uncertain" })]) },
};

it("shows type, path and problem of each volume", () => {
  expect(volumesText(volumesView(NOW, [WEB], [ORPHAN]))).toBe(
    `\
1 mounted, 4 pending, 1 removing, 1 orphaned, at 2023-11-14T22:13:20.000Z

demo/web  (UID uid-web)
  removing  cache     kubernetes.io/empty-dir  /pods/u/cache
      is being removed
  pending   claim
      its objects are being looked up
  pending   disk
      csi is not served
  pending   logo      kubernetes.io/image      registry/logo:1
      is being set up
  mounted   settings  kubernetes.io/configmap  /pods/u/settings
      configmap "settings" not found
      failed once; next try at 2023-11-14T22:13:22.500Z, in 2.5s
  pending   share     kubernetes.io/nfs        server:/export at /pods/u/pv-7
      PersistentVolume pv-7
      exit status 32: no  [31mroute
      failed 3 times; next try at 2023-11-14T22:13:22.500Z, in 2.5s

Left over from removed pods
  /pods/gone
    target is busy
    orphaned  data  kubernetes.io/empty-dir  /pods/u/data
`,
  );
});

it("reports that there are no volumes", () => {
  expect(volumesText(volumesView(NOW, [], []))).toBe(
    "0 mounted, 0 pending, 0 removing, 0 orphaned, at 2023-11-14T22:13:20.000Z\n",
  );
  expect(volumesText(volumesView(NOW, [pod("plain", NO_VOLUMES)], undefined))).toBe(
    "0 mounted, 0 pending, 0 removing, at 2023-11-14T22:13:20.000Z\n\ndemo/plain  (UID uid-plain)\n  no volumes\n",
  );
});

it("reports stages without a pod", () => {
  const stage = { volume: "d^h", path: "/plugins/d/1/globalmount", reason: "the driver is\nill" };
  expect(volumesText(volumesView(NOW, [], [], [stage]))).toBe(
    `0 mounted, 0 pending, 0 removing, 0 orphaned, at 2023-11-14T22:13:20.000Z

Staged for no pod
  d^h at /plugins/d/1/globalmount
    the driver is ill
`,
  );
});

it("contains the same as fields", () => {
  const { pods } = volumesView(NOW, [WEB], undefined);
  expect(pods[0]?.volumes.find(({ name }) => name === "share")).toEqual({
    name: "share",
    state: "pending",
    plugin: "kubernetes.io/nfs",
    volume: "pv-7",
    path: "/pods/u/pv-7",
    source: "server:/export",
    reason: "exit status 32:\nno \u001b[31mroute",
    failures: 3,
    next: { at: "2023-11-14T22:13:22.500Z", inSeconds: 2.5 },
  });
});
