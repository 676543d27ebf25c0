/** Which volumes of a pod are measured, and how. Counterpart: MetricsProvider of the volume plugins. */
import type { Pod } from "../api.ts";
import { claimOf } from "../volume/volumeClaim.ts";
import { EMPTY_DIR_PLUGIN, LOCAL_PLUGIN, NFS_PLUGIN, type VolumeLayout } from "../volume/volumeLayout.ts";

/** One volume that can be measured. */
export interface MeasuredVolume {
  /** In the pod. */
  readonly name: string;
  readonly path: string;
  /** `du`: what is in it is counted. `statfs`: it is what its file system says. Labels of upstream's metric. */
  readonly by: "du" | "statfs";
  /** On a file system other than that of the kubelet's directory. */
  readonly hasOwnFs: boolean;
  /** A server may answer for it, or not: that of NFS, or of what a local volume is a directory of. */
  readonly isRemote: boolean;
  /** It counts as ephemeral storage of the pod. */
  readonly isEphemeral: boolean;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
}

/** Of the mounted volumes, those upstream measures too, in the order of the spec. */
export function measuredVolumes(pod: Pod, mounted: ReadonlyMap<string, VolumeLayout>): readonly MeasuredVolume[] {
  return (pod.spec.volumes ?? []).flatMap((volume): readonly MeasuredVolume[] => {
    const layout = mounted.get(volume.name);
    if (layout === undefined) return [];
    const { path, plugin, hasContent, fileSystem } = layout;
    const isCounted = hasContent || plugin === EMPTY_DIR_PLUGIN;
    const isRemote = plugin === NFS_PLUGIN || plugin === LOCAL_PLUGIN;
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
