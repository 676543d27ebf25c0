/**
 * Volumes on disks of the network: a disk is found and mounted once for the node, and bound for each pod. After its last pod
 * has gone it is unmounted and removed from the node. Stateless; heldVolumes.ts has the disks of the node. Every step can be
 * repeated.
 * Upstream: attacher.go and disk_manager.go of pkg/volume/fc.
 *
 *     [find]-[mount for the node]-[bind]-[group]
 *     [unbind]-(pod gone)---last---[unmount for the node]-[remove disk]
 */
import { concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { attachmentWait } from "../../core/csi/attachmentWait.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import type { BlockedVolume } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { failing } from "./blockMaps.ts";
import {
  type AnyDiskLayout,
  attachDisk,
  detachDisk,
  DISK_MODE,
  type DiskContext,
  diskSecrets,
  type DiskVolume,
  recordDisk,
  removeRecord,
} from "./diskAttachment.ts";
import { createDeviceTurns } from "./deviceTurns.ts";
import { type HeldVolume, holderOf, type KeptDisk } from "./heldVolumes.ts";
import { unstageOtherLabel } from "./keptVolumes.ts";
import { type RemovalPorts, removeRarelyMounted, removeUnmounted, unmountBelow } from "./removeUnmounted.ts";
import { setUpVolume, type VolumePorts } from "./volumeEffects.ts";

export const isDisk = (layout: VolumeLayout): layout is DiskVolume["layout"] => layout.disk !== undefined;

/** Notes that the pod's volume is needed, and returns why it must wait; undefined: it can be set up. */
export function diskWait({ pod, layout }: DiskVolume, context: DiskContext): string | BlockedVolume | undefined {
  const { disk, name } = layout;
  const holder = holderOf(pod.metadata.uid, name);
  context.heldVolumes.hold(disk.mountPoint, holder, true, disk.volumeName);
  const message = context.heldVolumes.labelWait(holder, disk.label, disk.volumeName);
  if (message !== undefined) return { isBlocked: true, message };
  return diskNews(context, disk);
}

/** Returns why the volume waits for the controller. */
export const diskNews = (
  { isAttachedByController, node }: DiskContext,
  disk: AnyDiskLayout | undefined,
): string | undefined =>
  disk === undefined || !isAttachedByController ? undefined : attachmentWait({ attachment: disk }, node.value);

/** Sets the volume up. Emits notices for its pod. Errors: SetUpError; completed steps stay. */
export function setUpDisk(ports: VolumePorts, context: DiskContext, volume: DiskVolume): Observable<VolumeNotice> {
  const { layout, pod } = volume;
  const holder = holderOf(pod.metadata.uid, layout.name);
  const held = context.heldVolumes.of(holder);
  const used$ = defer(() => {
    held?.volume.users.add(holder);
    if (held !== undefined) context.heldVolumes.mounting(held.volume, holder, layout.disk.label);
    return EMPTY;
  });
  const setUp$ = concat(
    held === undefined ? EMPTY : defer(() => unstageOther(ports, context, layout, held.volume)),
    used$,
    stage(ports, context, layout),
    setUpVolume(ports, layout, undefined, createDeviceTurns()),
  );
  return held === undefined ? setUp$ : held.volume.turns.run(setUp$);
}

function stage(ports: VolumePorts, context: DiskContext, layout: DiskVolume["layout"]): Observable<never> {
  const { files, mounts } = ports;
  if (mounts === undefined) return EMPTY;
  const { mountPoint, fsType, options } = layout.disk;
  return diskSecrets(context, layout.disk.disk).pipe(
    failing("NewMounter initialization"),
    switchMap((secrets) => {
      const mounted$ = attachDisk(ports, context, layout.disk, secrets).pipe(
        failing("WaitForAttach"),
        switchMap((source) =>
          concat(
            files.makeDirectory(mountPoint, DISK_MODE),
            mounts.formatAndMount({ source, target: mountPoint, fsType, options }),
          ).pipe(failing("MountDevice")),
        ),
      );
      const recorded$ = concat(
        recordDisk(ports, layout.path, layout.disk),
        files.makeDirectory(layout.path, DISK_MODE),
      );
      return mounts
        .list()
        .pipe(
          switchMap((entries) => (mountAt(entries, mountPoint) === undefined ? concat(recorded$, mounted$) : EMPTY)),
        );
    }),
    ignoreElements(),
  );
}

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
    removeRarelyMounted(ports, subPaths),
    unmountBelow(ports, path),
    removeRecord(ports, path),
    removeUnmounted(ports, path),
    defer(() => {
      if (held !== undefined)
        context.heldVolumes.leave(holder, { kind: "disk", plugin, directory: held.name, isBlock: false });
      return EMPTY;
    }),
  );
  return held === undefined ? gone$ : held.volume.turns.run(gone$);
}

/** Unmounts a disk for the pod if it is mounted with another SELinux label for no pod. Errors: SetUpError. */
const unstageOther = (
  ports: RemovalPorts,
  context: DiskContext,
  { plugin, disk }: DiskVolume["layout"],
  volume: HeldVolume,
): Observable<never> => {
  // A pod without a label may have the mount.
  if (volume.users.size > 0) return EMPTY;
  const unstage$ = defer(() => unstageDisk(ports, context, { plugin, directory: disk.mountPoint }));
  return unstageOtherLabel(context.heldVolumes, volume, disk.label, unstage$).pipe(failing("MountDevice"));
};

/** Unmounts a disk that no pod has and detaches it. Errors: KubeletError, without undoing completed steps. */
export function unstageDisk(
  ports: RemovalPorts,
  context: DiskContext,
  { plugin, directory }: Pick<KeptDisk, "plugin" | "directory">,
): Observable<never> {
  const source$ = ports.mounts?.list().pipe(map((entries) => mountAt(entries, directory)?.source)) ?? of(undefined);
  return source$.pipe(
    switchMap((source) =>
      concat(unmountBelow(ports, directory), detachDisk(ports, context, plugin, directory, source)),
    ),
  );
}
