import { of } from "rxjs";
import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

/** Never removes the log directory of a pod. */
export const leakedLogs: Mutant = {
  bug: "logs remain after the removal of their pods",
  caughtBy: "leftovers",
  createKubelet: (config, ports) =>
    createKubelet(config, {
      ...ports,
      files: {
        ...ports.files,
        remove: (path) =>
          path.startsWith(`${config.directories.podLogsDir}/`) ? of(undefined) : ports.files.remove(path),
      },
    }),
};
