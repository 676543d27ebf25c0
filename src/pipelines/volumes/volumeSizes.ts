/**
 * Sizes of the volumes on this node, each for all pods that have it: the size that the node has expanded it to, and whether
 * another attempt is of use. Bound: an entry per volume that pods have. Upstream: persistentVolumeSize and
 * volumesWithFinalExpansionErrors of the actual state of world.
 */

/** A volume that pods have. */
export interface VolumeSize {
  /** In bytes. */
  size: bigint;
  /** The driver has refused to expand it. */
  hasFailed: boolean;
  /** The driver cannot expand it while pods have it. */
  isInUse: boolean;
}

export interface VolumeSizes {
  /** Returns the volume with this key, and notes that the pod has it; `size` is that of a volume that no pod has. */
  hold(key: string, uid: string, size: bigint): VolumeSize;
  of(key: string): VolumeSize | undefined;
  /** Notes that the pod's volume is gone. */
  drop(key: string, uid: string): void;
}

/** Creates the only owner of the sizes. */
export function createVolumeSizes(): VolumeSizes {
  const entries = new Map<string, VolumeSize & { readonly pods: Set<string> }>();
  return {
    hold: (key, uid, size) => {
      const entry = entries.get(key) ?? { size, hasFailed: false, isInUse: false, pods: new Set() };
      entries.set(key, entry);
      entry.pods.add(uid);
      return entry;
    },
    of: (key) => entries.get(key),
    drop: (key, uid) => {
      const entry = entries.get(key);
      entry?.pods.delete(uid);
      if (entry?.pods.size === 0) entries.delete(key);
    },
  };
}
