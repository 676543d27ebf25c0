import { of } from "rxjs";
import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

/** Never removes a pod's directory of logs. */
export const leakedLogs: Mutant = {
  bug: "the logs of pods stay when the pods have gone",
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
