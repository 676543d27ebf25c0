/** Block volumes of a container as its devices. Upstream: makeBlockVolumes in kubelet_pods.go. */
import type { Container } from "../api.ts";
import { Device } from "../../gen/cri.ts";
import { ok, type Result } from "../result.ts";
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import { containerConfigError } from "./configError.ts";

/** Returns the devices; `volumes` has the pod's mounted volumes by name. Errors: CreateContainerConfigError. */
export function containerBlockDevices(
  { name: container, volumeDevices = [] }: Pick<Container, "name" | "volumeDevices">,
  volumes: ReadonlyMap<string, VolumeLayout>,
): Result<readonly Device[]> {
  const devices: Device[] = [];
  for (const { name, devicePath } of volumeDevices) {
    if (!devicePath.startsWith("/")) {
      return containerConfigError(`error DevicePath \`${devicePath}\` must be an absolute path`);
    }
    const volume = volumes.get(name);
    if (volume?.block === undefined) {
      return containerConfigError(`cannot find volume "${name}" to pass into container "${container}"`);
    }
    const permissions = volume.isReadOnly ? "r" : "mrw";
    devices.push(Device.fromPartial({ containerPath: devicePath, hostPath: volume.block.link, permissions }));
  }
  return ok(devices);
}
