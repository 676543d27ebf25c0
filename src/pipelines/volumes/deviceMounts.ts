/**
 * Block devices with a file system, of local volumes: each is mounted once on the node, before its first pod, and
 * unmounted after its last. Stateless: the mount table has the users of a device. Upstream: deviceMounter of
 * pkg/volume/local.
 */
import { catchError, concat, EMPTY, ignoreElements, map, type Observable, switchMap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { mountAt, seenBelow } from "../../core/mount/mountInfo.ts";
import { localDeviceMount, localDeviceMounts, type PathRoots, podsDir } from "../../core/paths.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import type { DeviceMount } from "../../core/volume/volumeLayout.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { DeviceTurns } from "./deviceTurns.ts";
import { type RemovalPorts, removeUnmounted } from "./removeUnmounted.ts";

type RootDir = Pick<PathRoots, "rootDir">;

const PRIVATE_MODE = 0o750;

/** Mounts a block device on the node, unless an earlier pod uses it. The caller binds it in the same turn. */
export function mountDevice(
  { files, mounts }: RemovalPorts,
  { mountPoint, ...fileSystem }: DeviceMount,
): Observable<void> {
  if (mounts === undefined) return EMPTY;
  const mount$ = concat(
    files.makeDirectory(mountPoint, PRIVATE_MODE),
    mounts.formatAndMount({ ...fileSystem, target: mountPoint }),
  );
  return mounts.list().pipe(
    switchMap((entries) => (mountAt(entries, mountPoint) === undefined ? mount$ : EMPTY)),
    catchError((thrown: unknown) => {
      const { message, ...error } = toKubeletError(thrown);
      const { source, fsType } = fileSystem;
      const what = `local: failed to mount device ${source} at ${mountPoint} (fstype: ${fsType}), error ${message}`;
      throw failedAt("MountDevice", { ...error, message: what });
    }),
  );
}

/** Unmounts the device of a local volume unless some pod uses it, or gets it; ignores a volume that is a directory. */
export function releaseDevice(
  ports: RemovalPorts,
  directories: RootDir,
  volume: string,
  turns: DeviceTurns,
): Observable<never> {
  const { files, mounts } = ports;
  if (mounts === undefined) return EMPTY;
  const mountPoint = localDeviceMount(directories, volume);
  const isTaken$ = mounts
    .list()
    .pipe(
      map(
        (entries) =>
          mountAt(entries, mountPoint) !== undefined && seenBelow(entries, mountPoint, podsDir(directories)).length > 0,
      ),
    );
  const release$ = isTaken$.pipe(switchMap((isTaken) => (isTaken ? EMPTY : removeUnmounted(ports, mountPoint))));
  return files.kindOf(mountPoint).pipe(
    switchMap((found) => (found === undefined ? EMPTY : turns.release(mountPoint, release$))),
    ignoreElements(),
  );
}

/** Unmounts the devices of pods whose directories were removed. */
export const releaseDevices = (ports: RemovalPorts, directories: RootDir, turns: DeviceTurns): Observable<never> =>
  ports.files
    .list(localDeviceMounts(directories))
    .pipe(switchMap((names) => inSequence(names, (name) => releaseDevice(ports, directories, name, turns))));
