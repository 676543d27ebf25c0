/** Whether containers use a volume in its mode: a file system in volumeMounts, a block device in volumeDevices. */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { allContainers } from "../pod/containers.ts";
import { err, ok, type Result } from "../result.ts";
import type { VolumeOrigin } from "./volumeLayout.ts";

/**
 * Checks the use of the pod's volume with this name. Upstream's errors: createVolumeSpec of
 * desired_state_of_world_populator.go.
 */
export function checkVolumeMode({ spec }: Pod, name: string, { isBlock }: VolumeOrigin): Result<void> {
  const [mode, field] =
    isBlock === true ? (["Block", "volumeMounts"] as const) : (["Filesystem", "volumeDevices"] as const);
  const isWrong = allContainers(spec).some((container) => container[field]?.some((use) => use.name === name) === true);
  if (!isWrong) return ok(undefined);
  const message = `volume ${name} has volumeMode ${mode}, but is specified in ${field}`;
  return err(kubeletError("InvalidArgument", message, { reason: "FailedMount" }));
}
