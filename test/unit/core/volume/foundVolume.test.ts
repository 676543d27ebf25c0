import { describe, expect, it } from "vitest";
import { layoutOfFound } from "../../../../src/core/volume/foundVolume.ts";
import type { VolumeOrigin } from "../../../../src/core/volume/volumeLayout.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const node = volumeNodeOf({ directories: { rootDir: "/k" } });
const MOUNT = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
const DEVICE = { volumeDevices: [{ name: "v", devicePath: "/dev/v" }] };
const local = { name: "pv1", local: { path: "/dev/sdx" }, isBlock: true };
const found = (origin: VolumeOrigin, use: object) =>
  layoutOfFound(podOf({ uid: "u", spec: { containers: [containerOf(use)] } }), "v", origin, node);

describe("a volume in mode Block", () => {
  it("has the pod's link to its device as its path", () => {
    const link = "/k/pods/u/volumeDevices/kubernetes.io~local-volume/pv1";
    expect(found({ ...local, readOnly: true }, DEVICE)).toMatchObject({
      ok: true,
      value: { path: link, isReadOnly: true, isOwnDirectory: false, block: { link, device: "/dev/sdx" } },
    });
  });

  it.each([
    ["as a mount", local, MOUNT, "volume v has volumeMode Block, but is specified in volumeMounts"],
    ["as both", local, { ...MOUNT, ...DEVICE }, "volume v has volumeMode Block, but is specified in volumeMounts"],
    [
      "of a kind without devices",
      { name: "pv1", nfs: { server: "s", path: "/" }, isBlock: true },
      DEVICE,
      'MapVolume.FindMapperPluginBySpec failed to find BlockVolumeMapper plugin. Volume plugin is nil. for volume "pv1"',
    ],
  ])("is refused %s", (_how, origin, use, message) => {
    expect(found(origin, use)).toMatchObject({ ok: false, error: { message, reason: "FailedMount" } });
  });
});

it("a volume in mode Filesystem is refused as a device", () => {
  const { isBlock: _mode, ...origin } = local;
  const message = "volume v has volumeMode Filesystem, but is specified in volumeDevices";
  expect(found(origin, DEVICE)).toMatchObject({ ok: false, error: { message, reason: "FailedMount" } });
});
