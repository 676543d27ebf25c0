import { describe, expect, it } from "vitest";
import {
  type FcDisk,
  fcDirectory,
  fcLayout,
  fcVolumeName,
  isLinkOf,
  parseFcDirectory,
} from "../../../../src/core/disk/fcDisk.ts";
import { layoutOf } from "../../../../src/core/volume/volumeLayout.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const byName: FcDisk = { wwns: ["5006", "5007"], lun: 3, wwids: [] };
const byId: FcDisk = { wwns: [], lun: 0, wwids: ["3600508b"] };
const node = { directories: { rootDir: "/k" } };

describe("a Fibre Channel disk", () => {
  it.each([
    [byName, "5006-5007-lun-3", "kubernetes.io/fc/[5006 5007]:3"],
    [byId, "3600508b", "kubernetes.io/fc/[3600508b]"],
  ])("%j has upstream's directory and name", (disk, directory, volumeName) => {
    expect([fcDirectory(disk), fcVolumeName(disk)]).toEqual([directory, volumeName]);
    expect(parseFcDirectory(directory)).toEqual(disk);
  });

  it.each(["lun-1", "5006-lun-x", "5006-lun-"])("is none in the directory %s", (name) => {
    expect(parseFcDirectory(name)).toBeUndefined();
  });

  it.each<[FcDisk, string, boolean]>([
    [byName, "fc-0x5007-lun-3", true],
    [byName, "pci-0000:05:00.0-fc-0x5006-lun-3", true],
    [byName, "pci-0000:05:00.0-fc-0x5006-lun-3-part1", false],
    [byName, "pci-0000:05:00.0-fc-0x5006-lun-33", false],
    [byName, "usb-fc-0x5006-lun-3", false],
    [byName, "fc-0x15006-lun-3", false],
    [byId, "scsi-3600508b", true],
    [byId, "scsi-3600508b-part1", false],
    [byId, "wwn-3600508b", false],
  ])("%j has the link %s: %s", (disk, name, expected) => expect(isLinkOf(disk, name)).toBe(expected));
});

describe("the layout of its volume", () => {
  it("has upstream's paths", () => {
    const layout = fcLayout(podOf({ uid: "u" }), "v", { targetWWNs: ["5006"], lun: 0 }, {}, node);
    const mountPoint = "/k/plugins/kubernetes.io/fc/5006-lun-0";
    expect(layout).toEqual({
      name: "v",
      plugin: "kubernetes.io/fc",
      path: "/k/pods/u/volumes/kubernetes.io~fc/v",
      isOwnDirectory: true,
      hasContent: false,
      isReadOnly: false,
      selinuxRelabel: true,
      bound: {
        ...{ source: mountPoint, readOnly: false, options: [], podsDir: "/k/pods" },
        device: { source: mountPoint, fsType: "ext4", options: [], mountPoint },
      },
      disk: {
        ...{ disk: { wwns: ["5006"], lun: 0, wwids: [] }, volumeName: "kubernetes.io/fc/[5006]:0" },
        ...{ mountPoint, fsType: "ext4", options: [] },
      },
    });
  });

  it("has the options of its PersistentVolume and of a claim that reads only", () => {
    const wish = { readOnly: true, mountOptions: ["noatime"] };
    const securityContext = { fsGroup: 5 };
    const layout = fcLayout(podOf({ spec: { securityContext } }), "v", { wwids: ["a b"], fsType: "xfs" }, wish, node);
    expect(layout).toMatchObject({
      isReadOnly: true,
      bound: { readOnly: true, options: ["noatime"] },
      disk: { disk: { wwids: ["a_b"] }, fsType: "xfs", options: ["noatime", "ro"] },
    });
    expect(layout).not.toHaveProperty("ownership");
  });

  it("is that of a pod's volume, with the group of the pod", () => {
    const pod = podOf({ spec: { securityContext: { fsGroup: 5 } } });
    const layout = layoutOf(pod, { name: "v", fc: { targetWWNs: ["5006"], lun: 0, readOnly: false } }, volumeNodeOf());
    expect(layout).toMatchObject({ value: { plugin: "kubernetes.io/fc", ownership: { fsGroup: 5 } } });
  });

  it.each([
    {},
    { targetWWNs: ["5006"] },
    { lun: 1 },
    { wwids: [] },
    { wwids: ["../x"] },
    { targetWWNs: ["a/b"], lun: 0 },
  ])("has a fault for %j", (source) => {
    expect(fcLayout(podOf(), "v", source, {}, node)).toMatchObject({
      fault: { message: "fc: no fc disk information found. failed to make a new mounter" },
    });
  });
});
