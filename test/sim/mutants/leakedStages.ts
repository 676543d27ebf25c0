import { throwError } from "rxjs";
import { kubeletError } from "../../../src/core/errors.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Finds no file that tells of a staged volume. */
export const leakedStages: Mutant = {
  bug: "volumes stay staged after their pods",
  caughtBy: "storageSettles",
  workload: "csi",
  createKubelet: withPorts(({ files }) => ({
    files: {
      ...files,
      readTail: (path, maxBytes, links) =>
        path.includes("/plugins/kubernetes.io/csi/")
          ? throwError(() => kubeletError("NotFound", `${path} is not read`))
          : files.readTail(path, maxBytes, links),
    },
  })),
};
