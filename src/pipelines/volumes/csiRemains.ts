/** Files of CSI volumes on disk: `vol_data.json`, and directories that drivers leave. Stateless. */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { CsiBlockPlaces } from "../../core/csi/csiBlockPlaces.ts";
import { parseVolData, VOL_DATA, type VolData } from "../../core/csi/volData.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import type { Result } from "../../core/result.ts";
import { orElse } from "../../operators/orElse.ts";
import { removeEmptyDirectory } from "./blockMaps.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

const MAX_DATA_BYTES = 64 * 1024;

/** Reads the file of a directory: one value, undefined if there is none. Errors: it cannot be read. */
export function readVolData(
  { files }: Pick<RemovalPorts, "files">,
  directory: string,
): Observable<Result<VolData> | undefined> {
  const path = `${directory}/${VOL_DATA}`;
  return files.readTail(path, MAX_DATA_BYTES).pipe(
    map((content) => parseVolData(content, path)),
    catchError((thrown: unknown) => {
      if (toKubeletError(thrown).code !== "NotFound") throw thrown;
      return of(undefined);
    }),
  );
}

/**
 * Removes the mount point of a driver, then its directory with `vol_data.json`. Errors while something is mounted there or
 * the mount point has files, which may be data: they are never removed.
 */
export function removeEmpty({ files, mounts }: RemovalPorts, directory: string, mountPoint: string): Observable<never> {
  const mounted$ =
    mounts?.list(mountPoint).pipe(map((entries) => mountAt(entries, mountPoint) !== undefined)) ?? of(false);
  const checked$ = mounted$.pipe(
    switchMap((isMounted) => {
      if (isMounted) throw kubeletError("Io", `the driver has left a mount at ${mountPoint}`);
      return files.kindOf(mountPoint);
    }),
    switchMap((kind) => (kind === "Directory" ? files.list(mountPoint) : of([]))),
    switchMap((names): Observable<never> => {
      if (names.length > 0) throw kubeletError("Io", `failed to remove dir [${mountPoint}]: directory not empty`);
      return EMPTY;
    }),
  );
  // The file goes last: a restarted kubelet tears down by it.
  return concat(
    checked$,
    defer(() => files.remove(mountPoint)),
    defer(() => files.remove(directory)),
  ).pipe(ignoreElements());
}

/** Errors while something is mounted at the path. */
export function refuseMountedAt({ mounts }: RemovalPorts, path: string): Observable<never> {
  if (mounts === undefined) return EMPTY;
  return mounts.list(path).pipe(
    switchMap((entries): Observable<never> => {
      if (mountAt(entries, path) === undefined) return EMPTY;
      throw kubeletError("Io", `the driver has left a mount at ${path}`);
    }),
  );
}

/**
 * Removes a device or its mount point that a driver has left at the pod's path. Errors while it is mounted, or a file or directory
 * with content, which may be data. Without a link to it, nothing finds it later.
 */
export const removePublished = (ports: RemovalPorts, path: string): Observable<never> =>
  concat(
    refuseMountedAt(ports, path),
    refuseContent(ports, path),
    defer(() => ports.files.remove(path)),
  ).pipe(ignoreElements());

const refuseContent = ({ files }: RemovalPorts, path: string): Observable<never> =>
  files.kindOf(path).pipe(
    switchMap((kind) => {
      if (kind === "Directory") return files.list(path);
      return kind === "File" ? files.readTail(path, 1) : of([]);
    }),
    switchMap((content): Observable<never> => {
      if (content.length > 0)
        throw kubeletError("Io", `the driver has left a file or directory with content at ${path}`);
      return EMPTY;
    }),
  );

/**
 * Removes the directories of a block volume that no pod has. Errors while a driver has left something in them. A published
 * device that it leaves is ignored, as upstream.
 */
export function removeBlockStage(ports: RemovalPorts, places: CsiBlockPlaces): Observable<never> {
  const { volumeDir, dataDir, mapDir, staging, publishDir } = places;
  return concat(
    removeEmptyDirectory(ports, publishDir).pipe(orElse(() => EMPTY)),
    refuseMountedAt(ports, staging),
    defer(() => removeEmptyDirectory(ports, staging)),
    defer(() => removeEmptyDirectory(ports, mapDir)),
    // The file goes last: a restarted kubelet tears down by it.
    defer(() => ports.files.remove(`${dataDir}/${VOL_DATA}`)),
    defer(() => removeEmptyDirectory(ports, dataDir)),
    defer(() => removeEmptyDirectory(ports, volumeDir)),
  ).pipe(ignoreElements());
}

/** Removes the same directories after a failed attempt to stage. Errors first of all while some pod has the device. */
export const clearBlockStage = (ports: RemovalPorts, places: CsiBlockPlaces): Observable<never> =>
  concat(
    removeEmptyDirectory(ports, places.publishDir),
    removeEmptyDirectory(ports, places.mapDir),
    removeBlockStage(ports, places),
  );
