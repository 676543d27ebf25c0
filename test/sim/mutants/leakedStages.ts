import { map, of, throwError } from "rxjs";
import { kubeletError } from "../../../src/core/errors.ts";
import { type Mutant, withPorts } from "./mutant.ts";

const STAGES = "/plugins/kubernetes.io/csi/";

/** Sees neither files nor mounts of staged volumes, and leaves their directories. */
export const leakedStages: Mutant = {
  bug: "volumes stay staged after their pods",
  caughtBy: "storageSettles",
  seed: 5,
  workload: "csi",
  createKubelet: withPorts(({ files, mounts }) => ({
    files: {
      ...files,
      readTail: (path, maxBytes, links) =>
        path.includes(STAGES)
          ? throwError(() => kubeletError("NotFound", `${path} is not read`))
          : files.readTail(path, maxBytes, links),
      list: (path) => (path.includes(STAGES) ? of([]) : files.list(path)),
      remove: (path) => (path.includes(STAGES) ? of(undefined) : files.remove(path)),
    },
    ...(mounts && {
      mounts: {
        ...mounts,
        list: () =>
          mounts.list().pipe(map((entries) => entries.filter(({ mountPoint }) => !mountPoint.includes(STAGES)))),
      },
    }),
  })),
};
