/**
 * Notes the volumes on disks of the network that an earlier kubelet has set up, or begun to: by the mount of their disk, else
 * by the file that names it. Stateless. Upstream: ConstructVolumeSpec and ConstructBlockVolumeSpec of pkg/volume/fc and
 * pkg/volume/iscsi.
 */
import { EMPTY, forkJoin, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { parseStaged, stagedPath } from "../../core/disk/diskLayout.ts";
import { FC_PLUGIN, fcVolumeName, parseFcDirectory } from "../../core/disk/fcDisk.ts";
import { iscsiVolumeNames, parseIscsiDirectory } from "../../core/disk/iscsiDisk.ts";
import { mountAt, type MountEntry } from "../../core/mount/mountInfo.ts";
import { diskDevicesDir, diskPluginDir, type PathRoots } from "../../core/paths.ts";
import { boundDevice } from "../../core/volume/blockVolume.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import type { DiskContext } from "./diskAttachment.ts";
import { holderOf } from "./heldVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

const MAX_FILE_BYTES = 16 * 1024;

/** A volume of a pod on disk. */
interface FoundVolume {
  readonly uid: string;
  readonly name: string;
  readonly plugin: string;
  /** The directory of the volume, or the pod's link to its device. */
  readonly path: string;
  readonly isBlock?: true | undefined;
}

/** Notes the volumes. Errors: those of Mounts. */
export function restoreDisks(
  { mounts, files }: Pick<RemovalPorts, "mounts" | "files">,
  { heldVolumes }: Pick<DiskContext, "heldVolumes">,
  directories: Pick<PathRoots, "rootDir">,
  found: readonly FoundVolume[],
): Observable<never> {
  if (mounts === undefined || found.length === 0) return EMPTY;
  return mounts.list().pipe(
    switchMap((entries) =>
      inSequence(found, ({ uid, name, plugin, path, isBlock }) =>
        forkJoin([
          files.readTail(stagedPath(path), MAX_FILE_BYTES).pipe(orElse(() => of(""))),
          isBlock === true ? mounts.realPath(path).pipe(orElse(() => of(""))) : of(""),
        ]).pipe(
          map(([text, device]) => {
            const staged = parseStaged(text);
            const parent = `${(isBlock === true ? diskDevicesDir : diskPluginDir)(directories, plugin)}/`;
            const seen =
              isBlock === true ? mappedAt(entries, { uid, device }, parent) : stagedAt(entries, path, parent);
            const place = seen ?? staged?.mountPoint;
            if (place?.startsWith(parent) !== true) return;
            const names = diskNames(plugin, place);
            const known = staged?.mountPoint === place ? [staged.volumeName] : names;
            if (names.length > 0) heldVolumes.hold(place, holderOf(uid, name), true, ...known);
          }),
        ),
      ),
    ),
    ignoreElements(),
  );
}

/** Returns the names that the disk of a directory may have in the status of the Node; none for another directory. */
export function diskNames(plugin: string, place: string): readonly string[] {
  if (plugin !== FC_PLUGIN) {
    const disk = parseIscsiDirectory(place);
    return disk === undefined ? [] : iscsiVolumeNames(disk);
  }
  const disk = parseFcDirectory(place.slice(place.lastIndexOf("/") + 1));
  return disk === undefined ? [] : [fcVolumeName(disk)];
}

/** Returns the mount point below `parent` of the file system that is mounted at `path`. */
function stagedAt(entries: readonly MountEntry[], path: string, parent: string): string | undefined {
  const own = mountAt(entries, path);
  if (own === undefined) return undefined;
  return entries.find(({ device, mountPoint }) => device === own.device && mountPoint.startsWith(parent))?.mountPoint;
}

/** Returns the directory below `parent` in which the device of the pod is bound. */
const mappedAt = (
  entries: readonly MountEntry[],
  { uid, device }: { readonly uid: string; readonly device: string },
  parent: string,
): string | undefined =>
  entries
    .find(
      (entry) =>
        entry.mountPoint.startsWith(parent) && entry.mountPoint.endsWith(`/${uid}`) && boundDevice(entry) === device,
    )
    ?.mountPoint.slice(0, -uid.length - 1);
