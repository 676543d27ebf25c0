/**
 * Decides whether a CSI volume must wait until the Node lists it in `volumesInUse` and in `volumesAttached`; volumeWorker.ts
 * waits. Upstream: GenerateVerifyControllerAttachedVolumeFunc.
 */
import type { Node } from "../api.ts";
import { perObject } from "../perObject.ts";
import type { CsiAttachment } from "./csiVolumeLayout.ts";

interface Names {
  readonly inUse: ReadonlySet<string>;
  readonly attached: ReadonlySet<string>;
}

const NO_NAMES: Names = { inUse: new Set(), attached: new Set() };

/** Each volume that waits asks at each change of the Node, whose lists have all volumes. */
const namesOf = perObject(
  ({ status: { volumesInUse = [], volumesAttached = [] } = {} }: Node): Names => ({
    inUse: new Set(volumesInUse),
    attached: new Set(volumesAttached.map(({ name }) => name)),
  }),
);

/**
 * Returns why a volume cannot be mounted yet; undefined: it is attached, or needs not be. The controller must know that the
 * node uses the volume before the volume is mounted, so that it never detaches a mounted one.
 */
export function attachmentWait(
  { attachment }: { readonly attachment: Pick<CsiAttachment, "volumeName"> | undefined },
  node: Node | undefined,
): string | undefined {
  if (attachment === undefined) return undefined;
  const { inUse, attached } = node === undefined ? NO_NAMES : namesOf(node);
  if (!inUse.has(attachment.volumeName)) {
    return "Volume has not been added to the list of VolumesInUse in the node's volume status";
  }
  return attached.has(attachment.volumeName) ? undefined : "Volume not attached according to node status";
}
