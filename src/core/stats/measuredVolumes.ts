/** Selects the volumes of a pod to measure, and the method. Upstream: MetricsProvider of the volume plugins. */
import type { Pod } from "../api.ts";
import { claimOf } from "../volume/volumeClaim.ts";
import { type CsiLayout, statsPath } from "../csi/csiVolumeLayout.ts";
import { EMPTY_DIR_PLUGIN, LOCAL_PLUGIN, NFS_PLUGIN, type VolumeLayout } from "../volume/volumeLayout.ts";

/** A volume to measure. */
export interface MeasuredVolume {
  /** Name of the volume in the pod. */
  readonly name: string;
  readonly path: string;
  /**
   * `du`: sum up its files. `statfs`: use the figures of its file system. `block`: the size of the device. `csi`: ask the
   * driver. The first three are labels of upstream's metric.
   */
  readonly by: "du" | "statfs" | "block" | "csi";
  /** Set if the driver is asked. */
  readonly csi?: CsiLayout;
  /** Whether it is on another file system than the kubelet's root directory. */
  readonly hasOwnFs: boolean;
  /** Whether the storage may fail to respond: NFS, a disk of the network, a flexVolume, or the file system behind a local volume. */
  readonly isRemote: boolean;
  /** Whether it counts as ephemeral storage of the pod. */
  readonly isEphemeral: boolean;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
}

/**
 * Returns the mounted volumes that upstream measures, in the order of the spec. `isFlexMeasured`: the driver of flexVolumes says
 * that its file systems can be measured.
 */
export function measuredVolumes(
  pod: Pod,
  mounted: ReadonlyMap<string, VolumeLayout>,
  isFlexMeasured: (driver: string) => boolean,
): readonly MeasuredVolume[] {
  return (pod.spec.volumes ?? []).flatMap((volume): readonly MeasuredVolume[] => {
    const layout = mounted.get(volume.name);
    if (layout === undefined) return [];
    const claim = claimOf(pod, volume);
    const pvcRef = claim && { name: claim.claimName, namespace: pod.metadata.namespace };
    const { flex } = layout;
    const measured = flex !== undefined && !isFlexMeasured(flex.driver) ? undefined : methodOf(layout);
    return measured === undefined ? [] : [{ name: volume.name, ...measured, ...(pvcRef && { pvcRef }) }];
  });
}

const OF_FILE_SYSTEM: ReadonlySet<string> = new Set([NFS_PLUGIN, LOCAL_PLUGIN]);

/** Returns undefined for a kind that upstream does not measure, such as hostPath. */
function methodOf(layout: VolumeLayout): Omit<MeasuredVolume, "name" | "pvcRef"> | undefined {
  const { path, plugin, hasContent, fileSystem, block, csi, disk, flex } = layout;
  const apart = { hasOwnFs: true, isRemote: false, isEphemeral: false };
  if (csi !== undefined) return { ...apart, path: statsPath(csi), by: "csi", csi };
  if (block !== undefined) return { ...apart, path: block.map, by: "block" };
  if (OF_FILE_SYSTEM.has(plugin) || (disk ?? flex) !== undefined)
    return { ...apart, path, by: "statfs", isRemote: true };
  if (!hasContent && plugin !== EMPTY_DIR_PLUGIN) return undefined;
  const hasOwnFs = fileSystem !== undefined;
  return { path, by: "du", hasOwnFs, isRemote: false, isEphemeral: !hasOwnFs };
}
