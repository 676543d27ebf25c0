import { from, mergeMap, switchMap } from "rxjs";
import { beforeEachStop, type Mutant } from "./mutant.ts";

/** Releases the devices of a pod before each stop of a container. */
export const hastyUnmaps: Mutant = {
  bug: "devices of a pod are released while its containers run",
  caughtBy: "devicesOutliveContainers",
  workload: "csi",
  createKubelet: beforeEachStop((directory, { mounts }) => {
    const uid = directory.slice(directory.lastIndexOf("/") + 1);
    if (mounts === undefined) return from([]);
    return mounts.list().pipe(
      switchMap((entries) => entries.filter(({ mountPoint }) => mountPoint.endsWith(`/dev/${uid}`))),
      mergeMap(({ mountPoint }) => mounts.detachLoops(mountPoint)),
    );
  }),
};
