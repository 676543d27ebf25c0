/** The volumes of a pod as they are once all are mounted, on the node of `nodeContextOf`. */
import type { Pod } from "../../src/core/api.ts";
import { layoutOf, usedVolumes, type VolumeLayout, type VolumeNode } from "../../src/core/volume/volumeLayout.ts";
import { nodeContextOf } from "./nodeContext.ts";

/** A node without the option that keeps memory out of swap. */
export const volumeNodeOf = (more: Partial<VolumeNode> = {}): VolumeNode => ({
  ...nodeContextOf(),
  hasNoSwap: false,
  labels: {},
  ...more,
});

/** Layouts by name, of the volumes that are served. */
export const mountedVolumesOf = (pod: Pod): ReadonlyMap<string, VolumeLayout> =>
  new Map(
    usedVolumes(pod).flatMap((volume) => {
      const layout = layoutOf(pod, volume, volumeNodeOf());
      return layout.ok ? [[volume.name, layout.value] as const] : [];
    }),
  );
