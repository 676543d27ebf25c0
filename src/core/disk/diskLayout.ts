/** Layout of a volume on a disk of the network, shared by Fibre Channel and iSCSI. Upstream: attacher.go of either plugin. */
import type { Pod } from "../api.ts";
import { escapePluginName, type PathRoots, podsDir, podVolumeDir } from "../paths.ts";
import { lastingOwnership } from "../volume/lastingOwnership.ts";

/** The part of a layout that only volumes on disks of the network have. */
export interface DiskLayout<Disk> {
  readonly disk: Disk;
  /** Name of the volume in the status of the Node. */
  readonly volumeName: string;
  /** Mount point of the disk for all pods of the node. */
  readonly mountPoint: string;
  readonly fsType: string;
  readonly options: readonly string[];
  /** SELinux label of the mount, among the options unless it is `NO_LABEL`; absent: its label does not matter. */
  readonly label?: string;
}

/** Options of a PersistentVolume, and the claim's wish; `readOnly` is undefined for a volume of a pod. */
export interface DiskWish {
  readonly readOnly?: boolean | undefined;
  readonly mountOptions?: readonly string[];
}

/** A volume of a pod. */
export interface DiskVolumeId {
  readonly name: string;
  readonly plugin: string;
  readonly isReadOnly: boolean;
}

/** The node's part of a layout. */
export interface DiskNode {
  readonly directories: Pick<PathRoots, "rootDir">;
}

/** Returns the part of a layout that needs no disk. */
export const diskBase = ({ metadata }: Pod, { name, plugin, isReadOnly }: DiskVolumeId, { directories }: DiskNode) => ({
  name,
  plugin,
  path: podVolumeDir(directories, metadata.uid, escapePluginName(plugin), name),
  isOwnDirectory: true,
  hasContent: false,
  isReadOnly,
  // Upstream manages the files of writable volumes alone.
  selinuxRelabel: !isReadOnly,
});

/** Returns the layout of a volume on this disk. `fsType` may be empty. */
export function diskLayout<Disk>(
  pod: Pod,
  id: DiskVolumeId,
  found: Pick<DiskLayout<Disk>, "disk" | "volumeName" | "mountPoint" | "fsType">,
  mountOptions: readonly string[],
  node: DiskNode,
) {
  const { mountPoint } = found;
  const options = [...new Set([...mountOptions, ...(id.isReadOnly ? ["ro"] : [])])].sort();
  const fsType = found.fsType || "ext4";
  return {
    ...diskBase(pod, id, node),
    ...(id.isReadOnly ? {} : lastingOwnership(pod)),
    bound: {
      ...{ source: mountPoint, readOnly: id.isReadOnly, options: mountOptions, podsDir: podsDir(node.directories) },
      device: { source: mountPoint, fsType, options, mountPoint },
    },
    disk: { ...found, fsType, options },
  };
}

/** A disk that is being mounted, or is mounted, for a volume of a pod. */
export interface StagedDisk {
  readonly mountPoint: string;
  readonly volumeName: string;
}

/**
 * Returns the path of the file that names the disk of a pod's volume: beside its mounts, so that a later kubelet knows it
 * whatever step this one has reached.
 */
export function stagedPath(path: string): string {
  const parts = path.split("/");
  const [plugin = "", name = ""] = parts.slice(-2);
  return [...parts.slice(0, -3), "plugins", plugin, name, "staged.json"].join("/");
}

/** Parses the file; undefined for any other content. */
export function parseStaged(text: string): StagedDisk | undefined {
  try {
    const { mountPoint, volumeName } = JSON.parse(text) as Partial<StagedDisk>;
    return typeof mountPoint === "string" && typeof volumeName === "string" ? { mountPoint, volumeName } : undefined;
  } catch {
    return undefined;
  }
}
