/**
 * Volumes on disks of the network that containers get as block devices: the disk is attached to the node, and mapped for each
 * pod. It is detached after the last pod has gone. Stateless; heldVolumes.ts has the disks of the node. Every step can be repeated.
 * Upstream: GenerateMapVolumeFunc of pkg/volume/util/operationexecutor, TearDownDevice of pkg/volume/fc and pkg/volume/iscsi.
 *
 *     [staged.json]-[link]-[find or log in]-[bind]-[link]-[loop device]
 *     [loop device]-[bind]-[staged.json]-[link]-(pod gone)---last---[detach]
 */
import { concat, defer, EMPTY, ignoreElements, type Observable, switchMap } from "rxjs";
import { diskBlockPlaces, NEW_MAPPER } from "../../core/disk/diskBlock.ts";
import { ISCSI_FILE } from "../../core/disk/iscsiFile.ts";
import type { PathRoots } from "../../core/paths.ts";
import { type BlockLayout, type BlockVolumeId, deviceLink } from "../../core/volume/blockVolume.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { failing, linkDevice, mapDevice, unmapDevice } from "./blockMaps.ts";
import {
  attachDisk,
  detachDisk,
  type DiskContext,
  type DiskVolume,
  diskSecrets,
  recordDisk,
  removeRecord,
} from "./diskAttachment.ts";
import { holderOf, type KeptDisk } from "./heldVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";
import { restoreDisks } from "./restoreDisks.ts";

type DiskDevice = DiskVolume & { readonly layout: { readonly block: BlockLayout } };

/** Returns whether containers get the disk as a device. */
export const isDiskDevice = (volume: DiskVolume): volume is DiskDevice => volume.layout.block !== undefined;

/** Sets the volume up. Emits notices for its pod. Errors: SetUpError; completed steps stay. */
export function setUpDiskDevice(
  ports: RemovalPorts,
  context: DiskContext,
  { pod, layout }: DiskDevice,
): Observable<VolumeNotice> {
  const { block, disk, name } = layout;
  const held = context.heldVolumes.of(holderOf(pod.metadata.uid, name));
  const setUp$ = diskSecrets(context, disk.disk).pipe(
    failing(NEW_MAPPER),
    switchMap((secrets) =>
      concat(
        recordDisk(ports, block.link, disk),
        linkDevice(ports, block.link, block.device),
        attachDisk(ports, context, disk, secrets).pipe(
          failing("WaitForAttach"),
          switchMap((device) => mapDevice(ports, name, { ...block, device })),
        ),
      ),
    ),
  );
  return held === undefined ? setUp$ : held.volume.turns.run(setUp$);
}

/** Completes when nothing of the volume is left. Errors: KubeletError, without undoing completed steps. */
export function tearDownDiskDevice(
  ports: RemovalPorts,
  context: DiskContext,
  directories: Pick<PathRoots, "rootDir">,
  id: BlockVolumeId,
): Observable<never> {
  const holder = holderOf(id.uid, id.name);
  const link = deviceLink(directories, id);
  const { heldVolumes } = context;
  // A volume that could not be found at start is looked for once more: its device must not stay mapped.
  const found$ = defer(() =>
    heldVolumes.of(holder) === undefined
      ? restoreDisks(ports, context, directories, [{ ...id, path: link, isBlock: true }])
      : EMPTY,
  );
  const gone$ = defer(() => {
    const held = heldVolumes.of(holder);
    const rest$ = concat(removeRecord(ports, link), defer(() => ports.files.remove(link)).pipe(ignoreElements()));
    if (held === undefined) return rest$;
    const left$ = defer(() => {
      heldVolumes.leave(holder, { kind: "disk", plugin: id.plugin, directory: held.name, isBlock: true });
      return EMPTY;
    });
    return held.volume.turns.run(concat(unmapDevice(ports, diskBlockPlaces(directories, id, held.name)), rest$, left$));
  });
  return concat(found$, gone$);
}

/** Detaches the disk unless its directory has the device of another pod, which an upstream kubelet may have left. */
export const detachUnmapped = (
  ports: RemovalPorts,
  context: DiskContext,
  { plugin, directory }: Pick<KeptDisk, "plugin" | "directory">,
): Observable<never> =>
  ports.files
    .list(directory)
    .pipe(
      switchMap((names) =>
        names.some((name) => name !== ISCSI_FILE) ? EMPTY : detachDisk(ports, context, plugin, directory),
      ),
    );
