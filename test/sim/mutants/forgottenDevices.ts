import { throwError } from "rxjs";
import { kubeletError } from "../../../src/core/errors.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Does not read the checkpoint of devices. */
export const forgottenDevices: Mutant = {
  bug: "a restart of the kubelet loses the devices of containers",
  caughtBy: "ownDevices",
  seed: 3,
  workload: "pinned",
  createKubelet: withPorts(({ files }) => ({
    files: {
      ...files,
      readTail: (path, bytes) =>
        path.endsWith("kubelet_internal_checkpoint")
          ? throwError(() => kubeletError("NotFound", "no such file"))
          : files.readTail(path, bytes),
    },
  })),
};
