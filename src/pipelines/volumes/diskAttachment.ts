/**
 * Attaches disks of the network to the node and detaches them, for volumes with a file system and block volumes alike.
 * Stateless. Every step can be repeated. Upstream: attacher.go and disk_manager.go of pkg/volume/fc and pkg/volume/iscsi.
 */
import { concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import type { Node, Pod } from "../../core/api.ts";
import { goJson } from "../../core/container/goJson.ts";
import { type DiskLayout, stagedPath } from "../../core/disk/diskLayout.ts";
import { type FcDisk, parseFcDirectory } from "../../core/disk/fcDisk.ts";
import { ISCSI_PLUGIN, type IscsiTarget } from "../../core/disk/iscsiDisk.ts";
import { ISCSI_FILE, iscsiFile } from "../../core/disk/iscsiFile.ts";
import { kubeletError } from "../../core/errors.ts";
import { boundDevice } from "../../core/volume/blockVolume.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { HostDisks } from "../../ports/hostDisks.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import { detachFcDisk, findFcDisk, knownFcDisk } from "./fcDisks.ts";
import type { HeldVolumes } from "./heldVolumes.ts";
import { detachIscsi } from "./iscsiDetach.ts";
import { attachIscsi, iscsiSecrets } from "./iscsiDisks.ts";
import type { IscsiContext, IscsiSecrets } from "./iscsiLogin.ts";
import { type RemovalPorts, removeUnmounted } from "./removeUnmounted.ts";

export interface DiskContext {
  readonly port: HostDisks;
  readonly node: ReadonlyCell<Node | undefined>;
  /** Otherwise the node attaches volumes itself, for which disks need nothing. */
  readonly isAttachedByController: boolean;
  readonly heldVolumes: HeldVolumes;
  /** undefined: the node has no iSCSI initiator. */
  readonly iscsi?: IscsiContext | undefined;
}

export type AnyDisk = FcDisk | IscsiTarget;
export type AnyDiskLayout = DiskLayout<AnyDisk>;

/** A volume of a pod on a disk. */
export interface DiskVolume {
  readonly pod: Pod;
  readonly layout: VolumeLayout & { readonly disk: AnyDiskLayout };
}

/** Mode of the directories of disks. */
export const DISK_MODE = 0o750;
const PRIVATE_FILE_MODE = 0o640;

const isIscsi = (disk: AnyDisk): disk is IscsiTarget => "iqn" in disk;

/** Emits the credentials of the disk. A pod needs them even if another pod has it, as upstream. Errors: KubeletError. */
export const diskSecrets = ({ iscsi }: DiskContext, disk: AnyDisk): Observable<IscsiSecrets> =>
  isIscsi(disk) ? defer(() => iscsiSecrets(initiatorOf(iscsi), disk)) : of(new Map());

function initiatorOf(iscsi: IscsiContext | undefined): IscsiContext {
  if (iscsi !== undefined) return iscsi;
  throw kubeletError("Unimplemented", "the node has no iSCSI initiator");
}

/** Leaves a file by which a later kubelet finds the disk of the volume, whatever step this one reaches. */
export function recordDisk(
  { files }: Pick<RemovalPorts, "files">,
  path: string,
  disk: AnyDiskLayout,
): Observable<never> {
  const { mountPoint, volumeName } = disk;
  const file = stagedPath(path);
  return concat(
    files.makeDirectory(file.slice(0, file.lastIndexOf("/")), DISK_MODE),
    files.replaceFile(file, goJson({ mountPoint, volumeName }), PRIVATE_FILE_MODE, "kubelet"),
  ).pipe(ignoreElements());
}

/** Removes the file, with its directory. */
export const removeRecord = ({ files }: Pick<RemovalPorts, "files">, path: string): Observable<never> =>
  files.remove(stagedPath(path).replace(/\/[^/]*$/, "")).pipe(ignoreElements());

/** Attaches the disk unless it is attached, and emits its device. Errors: KubeletError. */
export function attachDisk(
  { files }: Pick<RemovalPorts, "files">,
  { port, iscsi }: DiskContext,
  { disk, mountPoint }: AnyDiskLayout,
  secrets: IscsiSecrets,
): Observable<string> {
  if (!isIscsi(disk)) return findFcDisk(port, disk);
  return concat(
    files.makeDirectory(mountPoint, DISK_MODE).pipe(ignoreElements()),
    files.replaceFile(`${mountPoint}/${ISCSI_FILE}`, iscsiFile(disk)).pipe(ignoreElements()),
    defer(() => attachIscsi(port, initiatorOf(iscsi), disk, secrets)),
  );
}

/**
 * Detaches the disk of a directory on which nothing is mounted or mapped, and removes the directory. Without `source`, its
 * device, a Fibre Channel disk is found by the name of the directory, so a later kubelet detaches it too. Errors: KubeletError.
 */
export function detachDisk(
  ports: RemovalPorts,
  { port, iscsi }: DiskContext,
  plugin: string,
  directory: string,
  source?: string,
): Observable<never> {
  if (plugin === ISCSI_PLUGIN) return defer(() => detachIscsi(ports, port, initiatorOf(iscsi), directory));
  const disk = parseFcDirectory(directory.slice(directory.lastIndexOf("/") + 1));
  const known$ = source !== undefined || disk === undefined ? of(source) : knownFcDisk(port, disk);
  return concat(
    known$.pipe(switchMap((device) => (device === undefined ? EMPTY : detachUnused(ports, port, device)))),
    removeUnmounted(ports, directory),
  );
}

/** A disk that another mount uses, or another block volume, is never removed: the mount table tells. */
const detachUnused = (ports: RemovalPorts, port: HostDisks, source: string): Observable<never> =>
  (
    ports.mounts
      ?.list()
      .pipe(map((entries) => entries.some((entry) => entry.source === source || boundDevice(entry) === source))) ??
    of(true)
  ).pipe(switchMap((isUsed) => (isUsed ? EMPTY : detachFcDisk(port, source))));
