/**
 * A CSI driver that mounts one directory through the Mounts port, as its specification has it: each call may be repeated,
 * and completes at once if its work is done. The driver is a process of its own, so it outlives a killed kubelet.
 */
import { concat, defer, EMPTY, last, map, type Observable, of, switchMap } from "rxjs";
import { mountAt } from "../../src/core/mount/mountInfo.ts";
import type { CsiClient } from "../../src/ports/csiDrivers.ts";
import type { MachinePorts } from "./failpoints.ts";

/** The calls that change mounts. */
export type MountingCalls = Pick<
  CsiClient,
  "nodeStageVolume" | "nodeUnstageVolume" | "nodePublishVolume" | "nodeUnpublishVolume"
>;

/** Creates the driver of the directory `source`; a volume that was staged is published from its staging path. */
export function mountingCsiDriver({ files, mounts }: MachinePorts, source: string): MountingCalls {
  const isMounted = (path: string) => mounts.list().pipe(map((entries) => mountAt(entries, path) !== undefined));
  const bound = (from: string, target: string, readOnly: boolean) =>
    isMounted(target).pipe(
      switchMap((isDone) => (isDone ? of(undefined) : mounts.bind({ source: from, target, readOnly }))),
    );
  const answered = (...steps: readonly Observable<unknown>[]) =>
    concat(...steps, of({})).pipe(
      last(),
      map(() => ({})),
    );
  return {
    nodeStageVolume: ({ stagingTargetPath: path }) => answered(bound(source, path, false)),
    nodeUnstageVolume: ({ stagingTargetPath: path }) => answered(mounts.unmount(path)),
    nodePublishVolume: ({ stagingTargetPath, targetPath: path, readonly }) =>
      answered(files.makeDirectory(path), bound(stagingTargetPath || source, path, readonly)),
    nodeUnpublishVolume: ({ targetPath: path }) =>
      answered(
        mounts.unmount(path),
        defer(() => files.kindOf(path)).pipe(switchMap((kind) => (kind === undefined ? EMPTY : files.remove(path)))),
      ),
  };
}
