/**
 * The attachment of a CSI volume to the node, which only controllers make and remove: its pod waits for it. Stateless;
 * heldVolumes.ts has what pods share. Bound: one request for each set up. Upstream: waitForVolumeAttach of
 * pkg/kubelet/volumemanager/reconciler, WaitForAttach of csi_attacher.go.
 */
import { catchError, map, type Observable, of } from "rxjs";
import { attachmentFault } from "../../core/csi/attachmentFault.ts";
import { attachmentWait } from "../../core/csi/attachmentWait.ts";
import { csiVolumeName, nodeVolumeName } from "../../core/csi/csiLayout.ts";
import type { CsiLayout } from "../../core/csi/csiVolumeLayout.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { ATTACH, type BlockedVolume, failedAt, type SetUpError } from "../../core/volume/volumeChecks.ts";
import type { CsiContext, CsiVolume } from "./csiContext.ts";
import { holderOf } from "./heldVolumes.ts";

/**
 * Notes that the pod's volume is needed. Returns why it must wait, also for pods with another SELinux label, or an error: nobody attaches it to this node. A volume of an
 * earlier kubelet is attached already; undefined: it can be set up. Differs from upstream: a volume that nobody detaches is in
 * use no longer than its pods; upstream's kubelet has it in use until it is restarted.
 */
export function csiWait(
  { pod, layout }: CsiVolume,
  context: CsiContext,
): string | BlockedVolume | SetUpError | undefined {
  const { heldVolumes, node, isAttachedByController } = context;
  const { csi } = layout;
  if (csi.stageDir === undefined) return undefined;
  const holder = holderOf(pod.metadata.uid, layout.name);
  const name = csiVolumeName(csi.driver, csi.handle);
  const volume = heldVolumes.hold(name, holder, csi.attachment !== undefined);
  const message = heldVolumes.labelWait(holder, csi.label, nodeVolumeName(name));
  if (message !== undefined) return { isBlocked: true, message };
  if (isAttachedByController) return attachmentWait(csi, node.value);
  return csi.attachment === undefined || volume.isFound
    ? undefined
    : failedAt(ATTACH, kubeletError("Unimplemented", "attaching volumes from the kubelet is not supported"));
}

/** Emits the metadata of the attachment, for requests to the driver. Errors: SetUpError while it is not attached. */
export function attachedMetadata({ api }: CsiContext, csi: CsiLayout): Observable<Readonly<Record<string, string>>> {
  const { attachment, handle } = csi;
  if (attachment === undefined) return of({});
  const { id } = attachment;
  return api.get("volumeattachments", { name: id }).pipe(
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      throw { ...error, message: `volume ${handle} has GET error for volume attachment ${id}: ${error.message}` };
    }),
    map((found) => {
      const fault = attachmentFault(found, csi, attachment);
      if (fault !== undefined) throw kubeletError("Unavailable", fault);
      return found.status?.attachmentMetadata ?? {};
    }),
    catchError((thrown: unknown) => {
      throw failedAt("WaitForAttach", toKubeletError(thrown));
    }),
  );
}
