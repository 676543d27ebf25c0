/**
 * Fibre Channel disks: by world wide names of targets and a LUN, or by world wide identifiers; their links, their directories
 * and the layout of their volumes. Upstream: pkg/volume/fc.
 */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { fcDeviceMount } from "../paths.ts";
import { isPathSegment } from "../pathSegment.ts";
import { diskBase, diskLayout, type DiskNode, type DiskWish } from "./diskLayout.ts";

export const FC_PLUGIN = "kubernetes.io/fc";

/** A disk; either `wwns` with `lun`, or `wwids`. */
export interface FcDisk {
  readonly wwns: readonly string[];
  readonly lun: number;
  readonly wwids: readonly string[];
}

/** A volume in its pod or its PersistentVolume. */
export interface FcSource {
  readonly targetWWNs?: readonly string[];
  readonly lun?: number;
  readonly wwids?: readonly string[];
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

function fcDiskOf({ targetWWNs = [], lun, wwids = [] }: FcSource): FcDisk | undefined {
  if (targetWWNs.length > 0 && lun !== undefined) return { wwns: targetWWNs, lun, wwids: [] };
  return wwids.length > 0 ? { wwns: [], lun: 0, wwids: wwids.map((wwid) => wwid.replaceAll(" ", "_")) } : undefined;
}

/** Returns the name of the directory of a disk. */
export const fcDirectory = ({ wwns, lun, wwids }: FcDisk): string =>
  wwns.length > 0 ? `${wwns.join("-")}-lun-${lun}` : wwids.join("-");

/** Returns the disk of a directory; undefined for any other name. */
export function parseFcDirectory(name: string): FcDisk | undefined {
  const parts = name.split("-");
  if (parts.at(-2) !== "lun") return { wwns: [], lun: 0, wwids: parts };
  const [wwns, lun] = [parts.slice(0, -2), parts.at(-1) ?? ""];
  return wwns.length > 0 && /^\d{1,9}$/.test(lun) ? { wwns, lun: Number(lun), wwids: [] } : undefined;
}

/** Returns the name of a volume in the status of the Node. */
export const fcVolumeName = ({ wwns, lun, wwids }: FcDisk): string =>
  `${FC_PLUGIN}/${wwns.length > 0 ? `[${wwns.join(" ")}]:${lun}` : `[${wwids.join(" ")}]`}`;

/** Returns whether a link below /dev/disk/by-path, or by-id for a WWID, is one of the disk. */
export function isLinkOf({ wwns, lun, wwids }: FcDisk, name: string): boolean {
  if (wwns.length === 0) return wwids.some((wwid) => name === `scsi-${wwid}`);
  const ends = wwns.map((wwn) => `fc-0x${wwn}-lun-${lun}`);
  return ends.some((end) => name === end || (name.startsWith("pci-") && name.endsWith(`-${end}`)));
}

/** Returns the layout of a volume. */
export function fcLayout(
  pod: Pod,
  name: string,
  source: FcSource,
  { readOnly, mountOptions = [] }: DiskWish,
  node: DiskNode,
) {
  const disk = fcDiskOf(source);
  const id = { name, plugin: FC_PLUGIN, isReadOnly: readOnly ?? source.readOnly === true };
  if (disk === undefined || !isPathSegment(fcDirectory(disk))) {
    const message = "fc: no fc disk information found. failed to make a new mounter";
    return { ...diskBase(pod, id, node), fault: kubeletError("InvalidArgument", message) };
  }
  const mountPoint = fcDeviceMount(node.directories, fcDirectory(disk));
  const found = { disk, volumeName: fcVolumeName(disk), mountPoint, fsType: source.fsType ?? "" };
  return diskLayout(pod, id, found, mountOptions, node);
}
