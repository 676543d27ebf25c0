/**
 * What is looked at again at each try to set up the volume behind a claim, before anything is done. Counterparts:
 * checkNodeAffinity and checkMountOptionSupport of pkg/volume/util/operationexecutor.
 */
import { type Labels, matchesTerms } from "../admission/nodeSelection.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import type { VolumeLayout } from "./volumeLayout.ts";

/** A check that failed, by the name events have for it. */
export interface FailedCheck {
  readonly step: string;
  readonly error: KubeletError;
}

/** The first one; `labels` undefined: the node is not known yet. */
export function failedCheck(
  { nodeTerms, hasVainMountOptions }: Pick<VolumeLayout, "nodeTerms" | "hasVainMountOptions">,
  labels: Labels | undefined,
): FailedCheck | undefined {
  if (nodeTerms !== undefined && labels !== undefined && !matchesTerms(nodeTerms, "", labels)) {
    return { step: "NodeAffinity check", error: kubeletError("Rejected", "no matching NodeSelectorTerms") };
  }
  if (hasVainMountOptions !== true) return undefined;
  const message = "mount options are not supported for this volume type";
  return { step: "MountOptionSupport check", error: kubeletError("InvalidArgument", message) };
}
