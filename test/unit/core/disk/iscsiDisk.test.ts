import { describe, expect, it } from "vitest";
import {
  type IscsiSource,
  iscsiLayout,
  iscsiVolumeNames,
  isCloned,
  isDirectoryOf,
  parseIscsiDirectory,
} from "../../../../src/core/disk/iscsiDisk.ts";
import { iscsiDiskAt, iscsiFile } from "../../../../src/core/disk/iscsiFile.ts";
import { layoutOf } from "../../../../src/core/volume/volumeLayout.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const IQN = "iqn.2003-01.org.example:disks";
const SOURCE: IscsiSource = { targetPortal: "10.0.0.1", iqn: IQN, lun: 2, iscsiInterface: "default" };
const node = { directories: { rootDir: "/k" } };
const MOUNT_POINT = `/k/plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-${IQN}-lun-2`;
const DISK = {
  ...{ volume: "v", portals: ["10.0.0.1:3260"], iqn: IQN, lun: 2 },
  ...{ iface: "default", initIface: "default", initiatorName: "" },
};

describe("the layout of an iSCSI volume", () => {
  it("has upstream's paths", () => {
    expect(iscsiLayout(podOf({ uid: "u" }), "v", SOURCE, {}, node)).toEqual({
      ...{ name: "v", plugin: "kubernetes.io/iscsi", path: "/k/pods/u/volumes/kubernetes.io~iscsi/v" },
      ...{ isOwnDirectory: true, hasContent: false, isReadOnly: false, selinuxRelabel: true },
      bound: {
        ...{ source: MOUNT_POINT, readOnly: false, options: [], podsDir: "/k/pods" },
        device: { source: MOUNT_POINT, fsType: "ext4", options: [], mountPoint: MOUNT_POINT },
      },
      disk: {
        disk: { ...DISK, chap: undefined },
        volumeName: `kubernetes.io/iscsi/10.0.0.1:${IQN}:2`,
        ...{ mountPoint: MOUNT_POINT, fsType: "ext4", options: [] },
      },
    });
  });

  it("has an interface of its own for an initiator of its own", () => {
    const source = {
      ...SOURCE,
      initiatorName: "iqn.2003-01.org.example:me",
      portals: ["10.0.0.2:99", "10.0.0.1:3260"],
    };
    const layout = iscsiLayout(podOf(), "v", source, { readOnly: true, mountOptions: ["noatime"] }, node);
    expect(layout).toMatchObject({
      isReadOnly: true,
      disk: {
        disk: { iface: "10.0.0.1:3260:v", initIface: "default", portals: ["10.0.0.1:3260", "10.0.0.2:99"] },
        mountPoint: `/k/plugins/kubernetes.io/iscsi/iface-10.0.0.1:3260:v/10.0.0.1:3260-${IQN}-lun-2`,
        options: ["noatime", "ro"],
      },
    });
  });

  it("finds the secret of CHAP in the pod's namespace, or in that of the PersistentVolume", () => {
    const chapOf = (secretRef: NonNullable<IscsiSource["secretRef"]>) =>
      iscsiLayout(podOf({ namespace: "n" }), "v", { ...SOURCE, chapAuthSession: true, secretRef }, {}, node);
    const chap = { discovery: false, session: true };
    const [own, other] = [chapOf({ name: "s" }), chapOf({ name: "s", namespace: "o" })];
    expect(own).toMatchObject({ disk: { disk: { chap: { ...chap, secret: { name: "s", namespace: "n" } } } } });
    expect(other).toMatchObject({ disk: { disk: { chap: { ...chap, secret: { name: "s", namespace: "o" } } } } });
  });

  it("is that of a pod's volume", () => {
    const layout = layoutOf(podOf(), { name: "v", iscsi: { targetPortal: "t", iqn: IQN, lun: 0 } }, volumeNodeOf());
    expect(layout).toMatchObject({ value: { plugin: "kubernetes.io/iscsi" } });
  });

  it.each<[Partial<IscsiSource>, string]>([
    [{ targetPortal: "-o" }, 'iscsi: "-o" is not a portal: an address, or address:port'],
    [{ targetPortal: "10.0.0.1/../x" }, 'iscsi: "10.0.0.1/../x" is not a portal: an address, or address:port'],
    [{ portals: ["a b"] }, 'iscsi: "a b" is not a portal: an address, or address:port'],
    [{ portals: Array.from({ length: 32 }, (_, at) => `10.0.0.${at}`) }, "iscsi: it has more than 32 portals"],
    [{ iqn: "iqn.2003-01.org:a/../b" }, 'iscsi: "iqn.2003-01.org:a/../b" is not the name of a target'],
    [{ iqn: "--logout" }, 'iscsi: "--logout" is not the name of a target'],
    [
      { iqn: `iqn.2003-01.org:${"a".repeat(210)}` },
      `iscsi: "iqn.2003-01.org:${"a".repeat(210)}" is not the name of a target`,
    ],
    [{ lun: 256 }, "iscsi: the LUN 256 is not between 0 and 255"],
    [{ lun: -1 }, "iscsi: the LUN -1 is not between 0 and 255"],
    [{ iscsiInterface: "../default" }, 'iscsi: "../default" is not the name of an interface'],
    [{ initiatorName: "me" }, 'iscsi: "me" is not the name of an initiator'],
    [{ chapAuthDiscovery: true }, "iscsi: CHAP enabled but secret name or namespace is empty"],
  ])("has a fault for %j", (change, message) => {
    const { fault } = iscsiLayout(podOf(), "v", { ...SOURCE, ...change }, {}, node) as { fault?: unknown };
    expect(fault).toMatchObject({ message, step: "NewMounter initialization" });
  });

  it("may have 32 portals, and the longest name", () => {
    const portals = Array.from({ length: 31 }, (_, at) => `10.0.0.${at}`);
    const iqn = `iqn.2003-01.org:${"a".repeat(207)}`;
    expect(iscsiLayout(podOf(), "v", { ...SOURCE, portals, iqn }, {}, node)).not.toHaveProperty("fault");
  });
});

describe("the directory of an iSCSI disk", () => {
  it.each([
    [MOUNT_POINT, { ...DISK, volume: "" }],
    [
      `/k/iface-a/[::1]:3260-eui.0123456789abcdef-lun-0`,
      { ...DISK, volume: "", portals: ["[::1]:3260"], iqn: "eui.0123456789abcdef", lun: 0, iface: "a", initIface: "a" },
    ],
    ["/k/volumeDevices/x", undefined],
    [`/k/default/10.0.0.1:3260-${IQN}-lun-2`, undefined],
    [`/k/iface-default/10.0.0.1:3260-${IQN}-lun-x`, undefined],
  ])("%s names its disk", (path, disk) => expect(parseIscsiDirectory(path)).toEqual(disk));

  it("belongs to its target alone", () => {
    expect(isDirectoryOf(IQN, `10.0.0.9:3260-${IQN}-lun-7`)).toBe(true);
    expect(isDirectoryOf(IQN, `10.0.0.9:3260-${IQN}2-lun-7`)).toBe(false);
    expect(isDirectoryOf(IQN, `10.0.0.9:3260-x${IQN}-lun-7`)).toBe(false);
    expect(isDirectoryOf(IQN, "volumeDevices")).toBe(false);
  });

  it("may have been named without the default port in the status of the Node", () => {
    expect(iscsiVolumeNames(DISK)).toEqual([
      `kubernetes.io/iscsi/10.0.0.1:3260:${IQN}:2`,
      `kubernetes.io/iscsi/10.0.0.1:${IQN}:2`,
    ]);
    expect(iscsiVolumeNames({ ...DISK, portals: ["h:1"] })).toEqual([`kubernetes.io/iscsi/h:1:${IQN}:2`]);
  });
});

describe("iscsi.json", () => {
  const TEXT = `{"VolName":"v","Portals":["10.0.0.1:3260"],"Iqn":"${IQN}","Lun":"2","InitIface":"default","Iface":"default","InitiatorName":"","MetricsProvider":null}\n`;

  it("has upstream's fields", () => {
    expect(iscsiFile(DISK)).toBe(TEXT);
    expect(iscsiDiskAt(MOUNT_POINT, TEXT)).toEqual(DISK);
  });

  it("tells more than the directory: further portals, and whose interface it is", () => {
    const cloned = {
      ...DISK,
      iface: "10.0.0.1:3260:v",
      initiatorName: "iqn.2003-01.org:me",
      portals: ["10.0.0.1:3260", "h:1"],
    };
    const path = `/k/iface-10.0.0.1:3260:v/10.0.0.1:3260-${IQN}-lun-2`;
    expect(iscsiDiskAt(path, iscsiFile(cloned))).toEqual(cloned);
    expect([isCloned(cloned), isCloned(DISK)]).toEqual([true, false]);
  });

  it.each([
    ["that is missing", undefined],
    ["that is damaged", "{"],
    ["without portals", TEXT.replace('["10.0.0.1:3260"]', "[]")],
    ["of another disk", TEXT.replace('"Lun":"2"', '"Lun":"3"')],
    ["with a portal that is none", TEXT.replace('["10.0.0.1:3260"]', '["10.0.0.1:3260","--logout"]')],
  ])("%s: the directory decides", (_what, text) => {
    expect(iscsiDiskAt(MOUNT_POINT, text)).toEqual({ ...DISK, volume: "" });
  });
});
