import { concat, ignoreElements } from "rxjs";
import { POD_UID_LABEL } from "../../../src/core/container/labels.ts";
import { podUid } from "../../../src/core/ids.ts";
import { podDir } from "../../../src/core/paths.ts";
import { createKubelet } from "../../../src/kubelet.ts";
import { listedContainers, type Mutant } from "./mutant.ts";

/** Removes the directory of a pod, volumes and all, as soon as it begins to stop its containers. */
export const diskFirst: Mutant = {
  bug: "volumes are removed before the containers that use them have ended",
  caughtBy: "diskOutlivesContainers",
  createKubelet(config, ports) {
    const { runtime, files } = ports;
    const { known, listContainers } = listedContainers(runtime);
    return createKubelet(config, {
      ...ports,
      runtime: {
        ...runtime,
        listContainers,
        stopContainer(request, options) {
          const uid = podUid(known.get(request.containerId)?.labels[POD_UID_LABEL] ?? "");
          const removed$ = files.remove(podDir(config.directories, uid)).pipe(ignoreElements());
          return concat(removed$, runtime.stopContainer(request, options));
        },
      },
    });
  },
};
