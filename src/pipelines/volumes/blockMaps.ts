/**
 * Maps the device of a block volume for a pod: binds it in the directory of the volume, links it for the pod, and keeps it
 * in use with a loop device. Stateless; each step can be repeated. Upstream: MapBlockVolume and UnmapBlockVolume of
 * pkg/volume/util.
 *
 *     map      [link]   (driver)   [bind]-[link]-[loop device]
 *     unmap    [loop device]-[bind]   (driver)   [link]
 *
 * Differs from upstream: the link is there first and goes last, so that a later kubelet finds each device that may be
 * mapped.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, of, switchMap } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import type { BlockLayout, BlockPlaces } from "../../core/volume/blockVolume.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import { mappedNotices, type VolumeNotice } from "../../core/volume/volumeNotices.ts";
import type { Mounts } from "../../ports/mounts.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

const PRIVATE_MODE = 0o750;

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

/** Links the pod to the place of its device, which may not exist yet. */
export const linkDevice = ({ files }: RemovalPorts, link: string, device: string): Observable<never> =>
  concat(files.makeDirectory(parentOf(link), PRIVATE_MODE), files.symlink(device, link)).pipe(ignoreElements());

/** Maps the device, and emits the notices for its pod. Errors: SetUpError. */
export function mapDevice(ports: RemovalPorts, name: string, block: BlockLayout): Observable<VolumeNotice> {
  return defer(() => {
    const mounts = mountsOf(ports);
    return mounts.realPath(block.device).pipe(
      failing("EvalHostSymlinks"),
      switchMap((device) =>
        concat(
          concat(bindDevice(ports, mounts, block, device), linkDevice(ports, block.link, device)),
          mounts.attachLoop(block.map).pipe(ignoreElements()),
        ).pipe(failing("MapBlockVolume")),
      ),
    );
  }).pipe((mapped$) => concat(mapped$, of(...mappedNotices(name, block))));
}

function bindDevice({ files }: RemovalPorts, mounts: Mounts, { mapDir, map }: BlockPlaces, device: string) {
  const bound$ = concat(
    files.makeDirectory(mapDir, PRIVATE_MODE),
    files.createFile(map, PRIVATE_MODE),
    mounts.bind({ source: device, target: map }),
  );
  return mounts.list().pipe(
    switchMap((entries) => (mountAt(entries, map) === undefined ? bound$ : EMPTY)),
    ignoreElements(),
  );
}

/** Releases the device of the pod; its link stays. Errors: KubeletError. */
export function unmapDevice(ports: RemovalPorts, { map }: BlockPlaces): Observable<never> {
  return defer(() => {
    const mounts = mountsOf(ports);
    return concat(
      mounts.detachLoops(map),
      mounts.unmount(map),
      defer(() => ports.files.remove(map)),
    );
  }).pipe(ignoreElements());
}

/** Removes a directory that is empty or missing. Errors: it is not empty. */
export const removeEmptyDirectory = ({ files }: RemovalPorts, directory: string): Observable<never> =>
  files.list(directory).pipe(
    switchMap((names) => {
      if (names.length > 0) throw kubeletError("Io", `failed to remove dir [${directory}]: directory not empty`);
      return files.remove(directory);
    }),
    ignoreElements(),
  );

function mountsOf({ mounts }: RemovalPorts): Mounts {
  if (mounts === undefined) throw kubeletError("PermissionDenied", "the kubelet may not mount file systems");
  return mounts;
}

/** Names the step that failed. */
export const failing =
  (step: string) =>
  <T>(made$: Observable<T>): Observable<T> =>
    made$.pipe(
      catchError((thrown: unknown) => {
        throw failedAt(step, toKubeletError(thrown));
      }),
    );
