/**
 * Layout of a volume on a disk of the network that containers get as a block device. Upstream: the block mappers of
 * pkg/volume/fc and pkg/volume/iscsi.
 */
import type { KubeletError } from "../errors.ts";
import { diskDevicesDir, diskPluginDir, type PathRoots } from "../paths.ts";
import { type BlockPlaces, blockPlaces, deviceLink } from "../volume/blockVolume.ts";
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import { FC_PLUGIN } from "./fcDisk.ts";
import { ISCSI_PLUGIN } from "./iscsiDisk.ts";

/** Returns whether volumes of this plugin are on disks of the network. */
export const isDiskPlugin = (plugin: string): boolean => plugin === FC_PLUGIN || plugin === ISCSI_PLUGIN;

type RootDir = Pick<PathRoots, "rootDir">;

/** Returns the places of a block volume; `mapDir` is the directory of its disk. */
export const diskBlockPlaces = (
  directories: RootDir,
  id: { readonly uid: string; readonly plugin: string; readonly name: string },
  mapDir: string,
): BlockPlaces => ({ mapDir, map: `${mapDir}/${id.uid}`, link: deviceLink(directories, id) });

/**
 * Returns the layout of a device from that of a file system. The device itself is known only when the disk is attached: until
 * then the link of the pod leads to its place. A fault stays, in upstream's words for block volumes.
 */
export function diskBlockLayout(
  { bound: _mount, ownership: _files, ...layout }: VolumeLayout,
  uid: string,
  directories: RootDir,
): VolumeLayout {
  const { disk, fault, name, plugin } = layout;
  const id = { uid, plugin, name };
  const mapDir = disk && mapDirOf(directories, plugin, disk.mountPoint);
  const places = mapDir === undefined ? blockPlaces(directories, id) : diskBlockPlaces(directories, id, mapDir);
  return {
    ...layout,
    path: places.link,
    ...{ isOwnDirectory: false, selinuxRelabel: false, block: { ...places, device: places.map } },
    ...(disk && mapDir && { disk: { ...disk, mountPoint: mapDir } }),
    ...(fault && { fault: ofMapper(fault) }),
  };
}

/** Returns upstream's global map path: the directory of the disk, below that of devices. */
function mapDirOf(directories: RootDir, plugin: string, mountPoint: string): string {
  return `${diskDevicesDir(directories, plugin)}${mountPoint.slice(diskPluginDir(directories, plugin).length)}`;
}

const ofMapper = (fault: KubeletError): KubeletError & { readonly step: string } => ({
  ...fault,
  message: fault.message.replace(/ mounter$/, " mapper"),
  step: NEW_MAPPER,
});

/** Step of a block volume whose source cannot be used. */
export const NEW_MAPPER = "NewBlockVolumeMapper initialization";
