/**
 * Volumes on disks of the network: a disk is found and mounted once for the node, and bound for each pod. After its last pod
 * it is unmounted and removed from the node. Stateless; what pods share is in heldVolumes.ts. Every step can be repeated.
 * Upstream: attacher.go and disk_manager.go of pkg/volume/fc.
 *
 *     [find]-[mount for the node]-[bind]-[group]
 *     [unbind]---last---[unmount for the node]-[remove disk]
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { Node, Pod } from "../../core/api.ts";
import { attachmentWait } from "../../core/csi/attachmentWait.ts";
import { type DiskLayout, FC_PLUGIN, fcVolumeName, parseFcDirectory } from "../../core/disk/fcDisk.ts";
import { toKubeletError } from "../../core/errors.ts";
import { mountAt, type MountEntry } from "../../core/mount/mountInfo.ts";
import { fcDeviceMount, type PathRoots } from "../../core/paths.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import type { HostDisks } from "../../ports/hostDisks.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import { type HeldVolumes, holderOf } from "./heldVolumes.ts";
import { detachFcDisk, findFcDisk } from "./fcDisks.ts";
import { type RemovalPorts, removeUnmounted, unmountBelow } from "./removeUnmounted.ts";
import { setUpVolume, type VolumePorts } from "./volumeEffects.ts";

export interface DiskContext {
  readonly port: HostDisks;
  readonly node: ReadonlyCell<Node | undefined>;
  /** Otherwise the node attaches volumes itself, for which disks need nothing. */
  readonly isAttachedByController: boolean;
  readonly heldVolumes: HeldVolumes;
}

/** A volume of a pod on a disk. */
export interface DiskVolume {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly disk: DiskLayout };
}

const PRIVATE_MODE = 0o750;

export const isDisk = (layout: VolumeLayout): layout is DiskVolume["layout"] => layout.disk !== undefined;

/** Notes that the pod's volume is needed, and returns why it must wait; undefined: it can be set up. */
export function diskWait({ pod, layout }: DiskVolume, context: DiskContext): string | undefined {
  const { disk, name } = layout;
  context.heldVolumes.hold(disk.mountPoint, holderOf(pod.metadata.uid, name), true, disk.volumeName);
  return diskNews(context, disk);
}

/** Returns why the volume waits for the controller. */
export const diskNews = (
  { isAttachedByController, node }: DiskContext,
  disk: DiskLayout | undefined,
): string | undefined =>
  disk === undefined || !isAttachedByController ? undefined : attachmentWait({ attachment: disk }, node.value);

/** Sets the volume up. Emits notices for its pod. Errors: SetUpError; completed steps stay. */
export function setUpDisk(ports: VolumePorts, context: DiskContext, volume: DiskVolume): Observable<VolumeNotice> {
  const { layout, pod } = volume;
  const held = context.heldVolumes.of(holderOf(pod.metadata.uid, layout.name));
  const setUp$ = concat(stage(ports, context, layout.disk), setUpVolume(ports, layout, undefined, createSemaphore(1)));
  return held === undefined ? setUp$ : held.volume.turns.run(setUp$);
}

function stage({ files, mounts }: VolumePorts, { port }: DiskContext, layout: DiskLayout): Observable<never> {
  if (mounts === undefined) return EMPTY;
  const { disk, mountPoint, fsType, options } = layout;
  const mount$ = findFcDisk(port, disk).pipe(
    switchMap((source) =>
      concat(
        files.makeDirectory(mountPoint, PRIVATE_MODE),
        mounts.formatAndMount({ source, target: mountPoint, fsType, options }),
      ),
    ),
  );
  return mounts.list().pipe(
    switchMap((entries) => (mountAt(entries, mountPoint) === undefined ? mount$ : EMPTY)),
    ignoreElements(),
    catchError((thrown: unknown) => {
      throw failedAt("MountDevice", toKubeletError(thrown));
    }),
  );
}

/** A volume on disk. */
export interface DiskRemains {
  readonly uid: string;
  readonly name: string;
  readonly path: string;
  /** Directory of the subPaths that are bound for containers. */
  readonly subPaths: string;
}

/** Completes when nothing of the volume is left. Errors: KubeletError, without undoing completed steps. */
export function tearDownDisk(ports: RemovalPorts, context: DiskContext, remains: DiskRemains): Observable<never> {
  const { uid, name, path, subPaths } = remains;
  const holder = holderOf(uid, name);
  const held = context.heldVolumes.of(holder);
  const gone$ = concat(
    removeUnmounted(ports, subPaths),
    unmountBelow(ports, path),
    defer(() => (held === undefined || held.volume.holders.size > 1 ? EMPTY : unstage(ports, context, held.name))),
    // The directory goes last: a restarted kubelet tears down by it.
    removeUnmounted(ports, path),
    defer(() => {
      context.heldVolumes.drop(holder);
      return EMPTY;
    }),
  );
  return held === undefined ? gone$ : held.volume.turns.run(gone$);
}

function unstage(ports: RemovalPorts, { port }: DiskContext, mountPoint: string): Observable<never> {
  const source$ = ports.mounts?.list().pipe(map((entries) => mountAt(entries, mountPoint)?.source)) ?? of(undefined);
  return source$.pipe(
    switchMap((source) =>
      concat(
        unmountBelow(ports, mountPoint),
        // A disk in use by another mount is never removed: the mount table tells.
        source === undefined ? EMPTY : ifUnused(ports, source, () => detachFcDisk(port, source)),
        removeUnmounted(ports, mountPoint),
      ),
    ),
  );
}

function ifUnused({ mounts }: RemovalPorts, source: string, then: () => Observable<never>): Observable<never> {
  const used$ = mounts?.list().pipe(map((entries) => entries.some((entry) => entry.source === source))) ?? of(true);
  return used$.pipe(switchMap((isUsed) => (isUsed ? EMPTY : then())));
}

/** Notes the volumes of an earlier kubelet, by the mount of their disk. Errors: those of Mounts. */
export function restoreDisks(
  { mounts }: Pick<RemovalPorts, "mounts">,
  { heldVolumes }: Pick<DiskContext, "heldVolumes">,
  directories: Pick<PathRoots, "rootDir">,
  found: readonly { readonly uid: string; readonly name: string; readonly path: string }[],
): Observable<never> {
  if (mounts === undefined || found.length === 0) return EMPTY;
  return mounts.list().pipe(
    map((entries) => {
      for (const { uid, name, path } of found) {
        const place = stagedAt(entries, path, fcDeviceMount(directories, ""));
        if (place === undefined) continue;
        const disk = parseFcDirectory(place.slice(place.lastIndexOf("/") + 1));
        if (disk !== undefined) heldVolumes.hold(place, holderOf(uid, name), true, fcVolumeName(disk));
      }
    }),
    ignoreElements(),
  );
}

/** Returns the mount point below `parent` of the file system that is mounted at `path`. */
function stagedAt(entries: readonly MountEntry[], path: string, parent: string): string | undefined {
  const own = mountAt(entries, path);
  if (own === undefined) return undefined;
  return entries.find(({ device, mountPoint }) => device === own.device && mountPoint.startsWith(parent))?.mountPoint;
}

/** Returns whether volumes of this plugin are on disks of the network. */
export const isDiskPlugin = (plugin: string): boolean => plugin === FC_PLUGIN;
