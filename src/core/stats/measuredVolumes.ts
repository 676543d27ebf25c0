/** Selects the volumes of a pod to measure, and the method. Upstream: MetricsProvider of the volume plugins. */
import type { Pod } from "../api.ts";
import { claimOf } from "../volume/volumeClaim.ts";
import { EMPTY_DIR_PLUGIN, LOCAL_PLUGIN, NFS_PLUGIN, type VolumeLayout } from "../volume/volumeLayout.ts";

/** A volume to measure. */
export interface MeasuredVolume {
  /** Name of the volume in the pod. */
  readonly name: string;
  readonly path: string;
  /**
   * `du`: sum up its files. `statfs`: use the figures of its file system. The values are labels of upstream's metric.
   */
  readonly by: "du" | "statfs";
  /** Whether it is on another file system than the kubelet's root directory. */
  readonly hasOwnFs: boolean;
  /** Whether a server may fail to respond: NFS, a disk of the network, or the file system behind a local volume. */
  readonly isRemote: boolean;
  /** Whether it counts as ephemeral storage of the pod. */
  readonly isEphemeral: boolean;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
}

/** Returns the mounted volumes that upstream measures, in the order of the spec. */
export function measuredVolumes(pod: Pod, mounted: ReadonlyMap<string, VolumeLayout>): readonly MeasuredVolume[] {
  return (pod.spec.volumes ?? []).flatMap((volume): readonly MeasuredVolume[] => {
    const layout = mounted.get(volume.name);
    if (layout === undefined || layout.block !== undefined) return [];
    const { path, plugin, hasContent, fileSystem } = layout;
    const isCounted = hasContent || plugin === EMPTY_DIR_PLUGIN;
    const isRemote = plugin === NFS_PLUGIN || plugin === LOCAL_PLUGIN || layout.disk !== undefined;
    if (!isCounted && !isRemote) return [];
    const hasOwnFs = !isCounted || fileSystem !== undefined;
    const claim = claimOf(pod, volume);
    const { namespace } = pod.metadata;
    return [
      {
        name: volume.name,
        path,
        by: isCounted ? "du" : "statfs",
        hasOwnFs,
        isRemote,
        isEphemeral: !hasOwnFs,
        ...(claim && { pvcRef: { name: claim.claimName, namespace } }),
      },
    ];
  });
}
