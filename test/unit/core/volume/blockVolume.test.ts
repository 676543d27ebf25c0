import { expect, it } from "vitest";
import { csiBlockPlaces } from "../../../../src/core/csi/csiBlockPlaces.ts";
import { blockPlaces, boundDevice } from "../../../../src/core/volume/blockVolume.ts";

const directories = { rootDir: "/k" };

it("a local block volume has upstream's paths", () => {
  expect(blockPlaces(directories, { uid: "u", plugin: "kubernetes.io/local-volume", name: "pv1" })).toEqual({
    mapDir: "/k/plugins/kubernetes.io~local-volume/volumeDevices/pv1",
    map: "/k/plugins/kubernetes.io~local-volume/volumeDevices/pv1/u",
    link: "/k/pods/u/volumeDevices/kubernetes.io~local-volume/pv1",
  });
});

it("a CSI block volume has upstream's paths", () => {
  expect(csiBlockPlaces(directories, "u", "pv1")).toEqual({
    volumeDir: "/k/plugins/kubernetes.io/csi/volumeDevices/pv1",
    dataDir: "/k/plugins/kubernetes.io/csi/volumeDevices/pv1/data",
    mapDir: "/k/plugins/kubernetes.io/csi/volumeDevices/pv1/dev",
    map: "/k/plugins/kubernetes.io/csi/volumeDevices/pv1/dev/u",
    staging: "/k/plugins/kubernetes.io/csi/volumeDevices/staging/pv1",
    publishDir: "/k/plugins/kubernetes.io/csi/volumeDevices/publish/pv1",
    publish: "/k/plugins/kubernetes.io/csi/volumeDevices/publish/pv1/u",
    link: "/k/pods/u/volumeDevices/kubernetes.io~csi/pv1",
  });
});

it.each([
  ["a device", "/sdb", "/k/plugins/kubernetes.io/fc/volumeDevices/w/u", "/dev/sdb"],
  ["the mount of a file system", "/", "/k/plugins/kubernetes.io/fc/volumeDevices/w", undefined],
  ["a directory elsewhere", "/sdb", "/k/pods/u/volumes/x", undefined],
])("a mount at the place of a block volume names its device: %s", (_what, root, mountPoint, device) => {
  expect(boundDevice({ root, mountPoint })).toBe(device);
});
