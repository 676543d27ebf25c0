/**
 * Decides whether a CSI volume must wait until the Node lists it in `volumesInUse` and in `volumesAttached`; volumeWorker.ts
 * waits. Upstream: GenerateVerifyControllerAttachedVolumeFunc.
 */
import type { Node } from "../api.ts";
import type { CsiAttachment } from "./csiVolumeLayout.ts";

/**
 * Returns why a volume cannot be mounted yet; undefined: it is attached, or needs not be. The controller must know that the
 * node uses the volume before the volume is mounted, so that it never detaches a mounted one.
 */
export function attachmentWait(
  { attachment }: { readonly attachment: Pick<CsiAttachment, "volumeName"> | undefined },
  node: Node | undefined,
): string | undefined {
  if (attachment === undefined) return undefined;
  const { volumesInUse = [], volumesAttached = [] } = node?.status ?? {};
  if (!volumesInUse.includes(attachment.volumeName)) {
    return "Volume has not been added to the list of VolumesInUse in the node's volume status";
  }
  return volumesAttached.some(({ name }) => name === attachment.volumeName)
    ? undefined
    : "Volume not attached according to node status";
}
