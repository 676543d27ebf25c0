/**
 * Places on disk of volumes that containers get as block devices, in upstream's layout; core/csi/csiBlockPlaces.ts has
 * those of CSI. Upstream: GetGlobalMapPath and GetPodDeviceMapPath of the volume plugins.
 */
import type { MountEntry } from "../mount/mountInfo.ts";
import { escapePluginName, type PathRoots, podVolumeDevicesDir } from "../paths.ts";

/** Places of a block volume of a pod. */
export interface BlockPlaces {
  /** Directory in which the device is bound for each pod: upstream's global map path. */
  readonly mapDir: string;
  /** The device as bound for this pod; a loop device keeps it in use. */
  readonly map: string;
  /** Link of the pod to the device. It exists as long as anything of the volume may. */
  readonly link: string;
}

/** The block volume of a layout. */
export interface BlockLayout extends BlockPlaces {
  /** Path of the device, or of a link to it. */
  readonly device: string;
}

/** A volume of a pod; `name` is that of the PersistentVolume. */
export interface BlockVolumeId {
  readonly uid: string;
  readonly plugin: string;
  readonly name: string;
}

type RootDir = Pick<PathRoots, "rootDir">;

/** Returns the pod's link to a device. */
export const deviceLink = (directories: RootDir, { uid, plugin, name }: BlockVolumeId): string =>
  `${podVolumeDevicesDir(directories, uid)}/${escapePluginName(plugin)}/${name}`;

/** Returns the places of a volume of a plugin other than CSI. */
export function blockPlaces(directories: RootDir, id: BlockVolumeId): BlockPlaces {
  const mapDir = `${directories.rootDir}/plugins/${escapePluginName(id.plugin)}/volumeDevices/${id.name}`;
  return { mapDir, map: `${mapDir}/${id.uid}`, link: deviceLink(directories, id) };
}

/**
 * Returns the device that a mount has bound at the place of a block volume, such as `/dev/sdb`; undefined for any other mount.
 * The root of such a mount is the path of the device in the file system of /dev.
 */
export const boundDevice = ({ root, mountPoint }: Pick<MountEntry, "root" | "mountPoint">): string | undefined =>
  root !== "/" && mountPoint.includes("/volumeDevices/") ? `/dev${root}` : undefined;
