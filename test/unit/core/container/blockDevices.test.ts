import { expect, it } from "vitest";
import { containerBlockDevices } from "../../../../src/core/container/blockDevices.ts";
import { layoutOfFound } from "../../../../src/core/volume/foundVolume.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const LINK = "/k/pods/u/volumeDevices/kubernetes.io~local-volume/pv1";
const volumesOf = (readOnly: boolean, isBlock = true) => {
  const origin = { name: "pv1", local: { path: "/dev/sdx" }, readOnly, isBlock };
  const layout = layoutOfFound(podOf({ uid: "u" }), "v", origin, volumeNodeOf({ directories: { rootDir: "/k" } }));
  return new Map(layout.ok ? [["v", layout.value]] : []);
};
const devices = (devicePath: string, ...[readOnly, isBlock]: Parameters<typeof volumesOf>) =>
  containerBlockDevices({ name: "c", volumeDevices: [{ name: "v", devicePath }] }, volumesOf(readOnly, isBlock));

it.each([
  ["writable", false, "mrw"],
  ["read-only", true, "r"],
])("a container gets the link to a %s device", (_how, readOnly, permissions) => {
  expect(devices("/dev/v", readOnly)).toEqual({
    ok: true,
    value: [{ containerPath: "/dev/v", hostPath: LINK, permissions }],
  });
});

it.each([
  ["at a relative path", devices("dev/v", false), "error DevicePath `dev/v` must be an absolute path"],
  ["of a file system", devices("/dev/v", false, false), 'cannot find volume "v" to pass into container "c"'],
])("a device %s is refused", (_how, made, message) => {
  expect(made).toMatchObject({ ok: false, error: { message, reason: "CreateContainerConfigError" } });
});
