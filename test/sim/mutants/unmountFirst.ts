import { catchError, EMPTY, from, mergeMap, switchMap } from "rxjs";
import { beforeEachStop, type Mutant } from "./mutant.ts";

/** Unmounts the volumes of a pod before it stops the containers. */
export const unmountFirst: Mutant = {
  bug: "volumes are unmounted while containers use them",
  caughtBy: "diskOutlivesContainers",
  createKubelet: beforeEachStop((directory, { mounts }) => {
    if (mounts === undefined) return EMPTY;
    return mounts.list().pipe(
      switchMap((entries) => from(entries.filter(({ mountPoint }) => mountPoint.startsWith(`${directory}/`)))),
      mergeMap(({ mountPoint }) => mounts.unmount(mountPoint)),
      catchError(() => EMPTY),
    );
  }),
};
