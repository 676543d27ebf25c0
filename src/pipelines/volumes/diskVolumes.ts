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
import { type DiskLayout, stagedPath } from "../../core/disk/diskLayout.ts";
import { FC_PLUGIN, type FcDisk } from "../../core/disk/fcDisk.ts";
import { ISCSI_PLUGIN, type IscsiTarget } from "../../core/disk/iscsiDisk.ts";
import { ISCSI_FILE, iscsiFile } from "../../core/disk/iscsiFile.ts";
import { goJson } from "../../core/container/goJson.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { HostDisks } from "../../ports/hostDisks.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import { detachFcDisk, findFcDisk } from "./fcDisks.ts";
import { type HeldVolumes, holderOf } from "./heldVolumes.ts";
import { detachIscsi } from "./iscsiDetach.ts";
import { attachIscsi, iscsiSecrets } from "./iscsiDisks.ts";
import type { IscsiContext, IscsiSecrets } from "./iscsiLogin.ts";
import { type RemovalPorts, removeUnmounted, unmountBelow } from "./removeUnmounted.ts";
import { setUpVolume, type VolumePorts } from "./volumeEffects.ts";

export interface DiskContext {
  readonly port: HostDisks;
  readonly node: ReadonlyCell<Node | undefined>;
  /** Otherwise the node attaches volumes itself, for which disks need nothing. */
  readonly isAttachedByController: boolean;
  readonly heldVolumes: HeldVolumes;
  /** undefined: the node has no iSCSI initiator. */
  readonly iscsi?: IscsiContext | undefined;
}

type AnyDisk = FcDisk | IscsiTarget;
type AnyDiskLayout = DiskLayout<AnyDisk>;

/** A volume of a pod on a disk. */
export interface DiskVolume {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly disk: AnyDiskLayout };
}

const PRIVATE_MODE = 0o750;
const PRIVATE_FILE_MODE = 0o640;

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
  disk: AnyDiskLayout | undefined,
): string | undefined =>
  disk === undefined || !isAttachedByController ? undefined : attachmentWait({ attachment: disk }, node.value);

const isIscsi = (disk: AnyDisk): disk is IscsiTarget => "iqn" in disk;

/** Sets the volume up. Emits notices for its pod. Errors: SetUpError; completed steps stay. */
export function setUpDisk(ports: VolumePorts, context: DiskContext, volume: DiskVolume): Observable<VolumeNotice> {
  const { layout, pod } = volume;
  const held = context.heldVolumes.of(holderOf(pod.metadata.uid, layout.name));
  const setUp$ = concat(stage(ports, context, layout), setUpVolume(ports, layout, undefined, createSemaphore(1)));
  return held === undefined ? setUp$ : held.volume.turns.run(setUp$);
}

function stage(ports: VolumePorts, context: DiskContext, layout: DiskVolume["layout"]): Observable<never> {
  const { files, mounts } = ports;
  if (mounts === undefined) return EMPTY;
  const { mountPoint, fsType, options } = layout.disk;
  return prepared(context, layout.disk.disk).pipe(
    switchMap((secrets) => {
      const mounted$ = findDisk(ports, context, layout.disk, secrets).pipe(
        failing("WaitForAttach"),
        switchMap((source) =>
          concat(
            files.makeDirectory(mountPoint, PRIVATE_MODE),
            mounts.formatAndMount({ source, target: mountPoint, fsType, options }),
          ).pipe(failing("MountDevice")),
        ),
      );
      return mounts
        .list()
        .pipe(
          switchMap((entries) =>
            mountAt(entries, mountPoint) === undefined ? concat(record(ports, layout), mounted$) : EMPTY,
          ),
        );
    }),
    ignoreElements(),
  );
}

/** Emits the credentials of the disk. A pod needs them even if another pod has mounted it, as upstream. */
function prepared({ iscsi }: DiskContext, disk: AnyDisk): Observable<IscsiSecrets> {
  if (!isIscsi(disk)) return of(new Map());
  return defer(() => iscsiSecrets(initiatorOf(iscsi), disk)).pipe(failing("NewMounter initialization"));
}

function initiatorOf(iscsi: IscsiContext | undefined): IscsiContext {
  if (iscsi !== undefined) return iscsi;
  throw kubeletError("Unimplemented", "the node has no iSCSI initiator");
}

/** Leaves files by which a later kubelet finds the disk of the volume, whatever step this one reaches. */
function record({ files }: VolumePorts, { path, disk }: DiskVolume["layout"]): Observable<unknown> {
  const { mountPoint, volumeName } = disk;
  const file = stagedPath(path);
  return concat(
    files.makeDirectory(file.slice(0, file.lastIndexOf("/")), PRIVATE_MODE),
    files.replaceFile(file, goJson({ mountPoint, volumeName }), PRIVATE_FILE_MODE, "kubelet"),
    files.makeDirectory(path, PRIVATE_MODE),
  );
}

function findDisk(
  { files }: VolumePorts,
  { port, iscsi }: DiskContext,
  { disk, mountPoint }: AnyDiskLayout,
  secrets: IscsiSecrets,
): Observable<string> {
  if (!isIscsi(disk)) return findFcDisk(port, disk);
  return concat(
    files.makeDirectory(mountPoint, PRIVATE_MODE).pipe(ignoreElements()),
    files.replaceFile(`${mountPoint}/${ISCSI_FILE}`, iscsiFile(disk)).pipe(ignoreElements()),
    defer(() => attachIscsi(port, initiatorOf(iscsi), disk, secrets)),
  );
}

const failing =
  (step: string) =>
  <T>(made$: Observable<T>): Observable<T> =>
    made$.pipe(
      catchError((thrown: unknown) => {
        throw failedAt(step, toKubeletError(thrown));
      }),
    );

/** A volume on disk. */
export interface DiskRemains {
  readonly uid: string;
  readonly plugin: string;
  readonly name: string;
  readonly path: string;
  /** Directory of the subPaths that are bound for containers. */
  readonly subPaths: string;
}

/** Completes when nothing of the volume is left. Errors: KubeletError, without undoing completed steps. */
export function tearDownDisk(ports: RemovalPorts, context: DiskContext, remains: DiskRemains): Observable<never> {
  const { uid, name, path, plugin, subPaths } = remains;
  const holder = holderOf(uid, name);
  const held = context.heldVolumes.of(holder);
  const gone$ = concat(
    removeUnmounted(ports, subPaths),
    unmountBelow(ports, path),
    defer(() =>
      held === undefined || held.volume.holders.size > 1 ? EMPTY : unstage(ports, context, plugin, held.name),
    ),
    // The directory goes last: a restarted kubelet tears down by it.
    ports.files.remove(stagedPath(path).replace(/\/[^/]*$/, "")).pipe(ignoreElements()),
    removeUnmounted(ports, path),
    defer(() => {
      context.heldVolumes.drop(holder);
      return EMPTY;
    }),
  );
  return held === undefined ? gone$ : held.volume.turns.run(gone$);
}

function unstage(
  ports: RemovalPorts,
  { port, iscsi }: DiskContext,
  plugin: string,
  mountPoint: string,
): Observable<never> {
  if (plugin === ISCSI_PLUGIN) {
    return concat(
      unmountBelow(ports, mountPoint),
      defer(() => detachIscsi(ports, port, initiatorOf(iscsi), mountPoint)),
    );
  }
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

/** Returns whether volumes of this plugin are on disks of the network. */
export const isDiskPlugin = (plugin: string): boolean => plugin === FC_PLUGIN || plugin === ISCSI_PLUGIN;
