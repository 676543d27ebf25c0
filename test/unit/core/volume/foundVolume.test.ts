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

  const iscsi = { targetPortal: "10.0.0.1", iqn: "iqn.2003-01.org.example:a", lun: 1 };

  it.each<[string, Omit<VolumeOrigin, "name">, string]>([
    ["an iSCSI disk", { iscsi }, "iscsi/volumeDevices/iface-default/10.0.0.1:3260-iqn.2003-01.org.example:a-lun-1"],
    ["a Fibre Channel disk", { fc: { targetWWNs: ["5006", "5007"], lun: 0 } }, "fc/volumeDevices/5006-5007-lun-0"],
    ["a Fibre Channel disk by its identifier", { fc: { wwids: ["36 0"] } }, "fc/volumeDevices/36_0"],
  ])("on %s has the directory of upstream", (_disk, origin, directory) => {
    const mapDir = `/k/plugins/kubernetes.io/${directory}`;
    const link = `/k/pods/u/volumeDevices/kubernetes.io~${"fc" in origin ? "fc" : "iscsi"}/pv1`;
    expect(found({ name: "pv1", isBlock: true, ...origin }, DEVICE)).toMatchObject({
      ok: true,
      value: {
        path: link,
        isOwnDirectory: false,
        block: { link, mapDir, map: `${mapDir}/u` },
        disk: { mountPoint: mapDir },
      },
    });
  });

  it.each<[string, Omit<VolumeOrigin, "name">, string]>([
    ["iSCSI", { iscsi: { ...iscsi, lun: 999 } }, "iscsi: the LUN 999 is not between 0 and 255"],
    ["Fibre Channel", { fc: {} }, "fc: no fc disk information found. failed to make a new mapper"],
  ])("on a faulty %s disk can never be set up", (_disk, origin, message) => {
    const fault = { step: "NewBlockVolumeMapper initialization", message };
    expect(found({ name: "pv1", isBlock: true, ...origin }, DEVICE)).toMatchObject({ ok: true, value: { fault } });
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
