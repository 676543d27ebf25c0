/**
 * Finds Fibre Channel disks, and removes them from the node. Stateless. Bounds: one scan per look. Upstream: fc_util.go of
 * pkg/volume/fc.
 */
import {
  catchError,
  concat,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  type Observable,
  of,
  reduce,
  switchMap,
  takeWhile,
} from "rxjs";
import { type FcDisk, isLinkOf } from "../../core/disk/fcDisk.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import type { HostDisks } from "../../ports/hostDisks.ts";

interface Found {
  readonly device: string;
  readonly isMultipath: boolean;
}

/**
 * Emits the device of a disk: its multipath device, else one path to it. Scans for it unless it has a multipath device.
 * Errors: KubeletError. Differs from upstream, which forgets a disk that it finds by all but the last of several names.
 */
export function findFcDisk(disks: HostDisks, disk: FcDisk): Observable<string> {
  return look(disks, disk).pipe(
    switchMap((known) =>
      known?.isMultipath === true
        ? of(known)
        : concat(
            disks.rescan().pipe(ignoreElements()),
            defer(() => look(disks, disk)),
          ),
    ),
    map((found) => {
      if (found === undefined) throw kubeletError("NotFound", "no fc disk found");
      return found.device;
    }),
  );
}

/** Emits the device of a disk that the node has, without a scan; undefined when it has none. Errors: KubeletError. */
export const knownFcDisk = (disks: HostDisks, disk: FcDisk): Observable<string | undefined> =>
  look(disks, disk).pipe(map((found) => found?.device));

/** Emits the multipath device if there is one, else the first device of the disk, else undefined. */
function look(disks: HostDisks, disk: FcDisk): Observable<Found | undefined> {
  return disks.links(disk.wwns.length > 0 ? "by-path" : "by-id").pipe(
    switchMap((names) => {
      const directory = `/dev/disk/${disk.wwns.length > 0 ? "by-path" : "by-id"}`;
      const links = names.filter((name) => isLinkOf(disk, name));
      return inSequence(links, (name) => foundAt(disks, `${directory}/${name}`));
    }),
    takeWhile(({ isMultipath }) => !isMultipath, true),
    reduce<Found, Found | undefined>((best, next) => (next.isMultipath || best === undefined ? next : best), undefined),
    defaultIfEmpty(undefined),
  );
}

const foundAt = (disks: HostDisks, link: string): Observable<Found> =>
  disks.deviceOf(link).pipe(
    filter((device) => device !== undefined),
    switchMap((device) =>
      disks
        .multipathOf(device)
        .pipe(map((multipath) => ({ device: multipath ?? device, isMultipath: multipath !== undefined }))),
    ),
  );

/** Removes an unmounted disk from the node: its multipath device, then each path to it. Errors: KubeletError. */
export function detachFcDisk(disks: HostDisks, source: string): Observable<never> {
  const removed = (device: string) =>
    concat(
      // A failed flush loses nothing of an unmounted disk, as upstream.
      disks.flush(device).pipe(orElse(() => EMPTY)),
      disks.remove(device),
    );
  return disks.deviceOf(source).pipe(
    switchMap((device) => {
      if (device === undefined) return EMPTY;
      if (!device.startsWith("/dev/dm-")) return removed(device);
      return disks
        .membersOf(device)
        .pipe(switchMap((members) => concat(disks.removeMultipath(device), inSequence(members, removed))));
    }),
    ignoreElements(),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      throw { ...error, message: `fc: failed to detach disk: ${source}: ${error.message}` };
    }),
  );
}
