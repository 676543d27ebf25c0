import { catchError, concat, EMPTY, from, ignoreElements, mergeMap, switchMap } from "rxjs";
import { POD_UID_LABEL } from "../../../src/core/container/labels.ts";
import { podUid } from "../../../src/core/ids.ts";
import { podDir } from "../../../src/core/paths.ts";
import { createKubelet } from "../../../src/kubelet.ts";
import { listedContainers, type Mutant } from "./mutant.ts";

/** Unmounts what is mounted for a pod as soon as it begins to stop its containers. */
export const unmountFirst: Mutant = {
  bug: "volumes are unmounted while containers use them",
  caughtBy: "diskOutlivesContainers",
  createKubelet(config, ports) {
    const { runtime, mounts } = ports;
    const { known, listContainers } = listedContainers(runtime);
    return createKubelet(config, {
      ...ports,
      runtime: {
        ...runtime,
        listContainers,
        stopContainer(request, options) {
          if (mounts === undefined) return runtime.stopContainer(request, options);
          const uid = podUid(known.get(request.containerId)?.labels[POD_UID_LABEL] ?? "");
          const place = `${podDir(config.directories, uid)}/`;
          const unmounted$ = mounts.list().pipe(
            switchMap((entries) => from(entries.filter(({ mountPoint }) => mountPoint.startsWith(place)))),
            mergeMap(({ mountPoint }) => mounts.unmount(mountPoint)),
            catchError(() => EMPTY),
            ignoreElements(),
          );
          return concat(unmounted$, runtime.stopContainer(request, options));
        },
      },
    });
  },
};
