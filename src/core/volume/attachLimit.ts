/**
 * Rejection of a pod whose volumes cannot be attached because the node has too many. Upstream:
 * VolumeAttachLimitExceededError of pkg/kubelet/volumemanager.
 */
import type { CsiAttachment, CsiLayout } from "../csi/csiVolumeLayout.ts";
import { type PodVolumes, waitText } from "./podVolumes.ts";
import { volumeKey } from "./volumeLayout.ts";

/** A CSI volume that waits for its attachment. */
export type AttachingVolume = CsiLayout & { readonly attachment: CsiAttachment };

/** Returns those of these volumes that wait to be attached by a driver whose limit is kept current, in this order. */
export const limitedVolumes = (names: readonly string[], volumes: PodVolumes): readonly AttachingVolume[] =>
  names.flatMap((name) => {
    const wish = volumes.wishes.get(name);
    if (wish?.kind !== "resolved" || volumes.actual.get(volumeKey(wish.layout))?.waitsFor === undefined) return [];
    const { csi } = wish.layout;
    const attachment = csi?.followsLimit === true ? csi.attachment : undefined;
    return csi === undefined || attachment === undefined ? [] : [{ ...csi, attachment }];
  });

/** Returns reason and message of the rejection; undefined when all these volumes are mounted. */
export function attachLimitRejection(
  names: readonly string[],
  volumes: PodVolumes,
): { readonly reason: string; readonly message: string } | undefined {
  const text = waitText(names, volumes);
  return text === undefined
    ? undefined
    : {
        reason: "VolumeAttachmentLimitExceeded",
        message: `Node has reached its volume attachment limit, rejecting pod. ${text}`,
      };
}
