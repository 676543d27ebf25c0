/** Decides from its VolumeAttachment whether a CSI volume is attached. Upstream: WaitForAttach of csi_attacher.go. */
import type { ApiObjects } from "../api/apiResources.ts";
import type { CsiAttachment, CsiLayout } from "./csiVolumeLayout.ts";

/** Returns why the volume cannot be mounted, in upstream's words; undefined: it is attached. */
export function attachmentFault(
  { metadata, status }: ApiObjects["volumeattachments"],
  { handle }: Pick<CsiLayout, "handle">,
  { id }: Pick<CsiAttachment, "id">,
): string | undefined {
  if (metadata?.deletionTimestamp !== undefined) return "volume attachment is being deleted";
  if (status?.attached === true) return undefined;
  if (status?.attachError !== undefined) return status.attachError.message ?? "";
  return `volume ${handle} is not attached for volume attachment ${id}`;
}
