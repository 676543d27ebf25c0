/** Layout of a CSI volume that containers get as a block device. Upstream: csi_block.go of pkg/volume/csi. */
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import type { CsiBlockPlaces } from "./csiBlockPlaces.ts";
import type { CsiLayout } from "./csiVolumeLayout.ts";

/**
 * Returns the layout of a device from that of a file system. Drivers get neither mount options, groups, the pod nor its
 * tokens for a device, as upstream.
 */
export function csiBlockLayout(
  { ownership: _files, ...layout }: VolumeLayout & { readonly csi: CsiLayout },
  places: CsiBlockPlaces,
): VolumeLayout {
  const { link, publish, volumeDir } = places;
  return {
    ...layout,
    path: link,
    isOwnDirectory: false,
    selinuxRelabel: false,
    block: { ...places, device: publish },
    csi: {
      ...layout.csi,
      ...{ block: places, directory: link, target: publish, stageDir: volumeDir },
      ...{ mountOptions: [], fsGroup: undefined, wantsPodInfo: false, tokens: [] },
    },
  };
}
