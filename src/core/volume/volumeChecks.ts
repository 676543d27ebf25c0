/**
 * What is looked at again at each try to set up the volume behind a claim, before anything is done. Counterparts:
 * checkNodeAffinity and checkMountOptionSupport of pkg/volume/util/operationexecutor.
 */
import { type Labels, matchesTerms } from "../admission/nodeSelection.ts";
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { VolumeLayout } from "./volumeLayout.ts";

/** Why a volume was not set up. */
export interface SetUpError extends KubeletError {
  /** At which step, by the name events have for it; absent: SetUp. */
  readonly step?: string;
}

/** A failure of this step. */
export const failedAt = (step: string, error: KubeletError): SetUpError => ({ ...error, step });

/** The first check that fails; `labels` undefined: the node is not known yet. */
export function failedCheck(
  { nodeTerms, hasVainMountOptions }: Pick<VolumeLayout, "nodeTerms" | "hasVainMountOptions">,
  labels: Labels | undefined,
): SetUpError | undefined {
  if (nodeTerms !== undefined && labels !== undefined && !matchesTerms(nodeTerms, "", labels)) {
    return failedAt("NodeAffinity check", kubeletError("Rejected", "no matching NodeSelectorTerms"));
  }
  if (hasVainMountOptions !== true) return undefined;
  const message = "mount options are not supported for this volume type";
  return failedAt("MountOptionSupport check", kubeletError("InvalidArgument", message));
}

/** What a local volume may be, links followed: anything else fails before it is touched. */
export function localSource(path: string, found: string | undefined): Result<"directory" | "device"> {
  if (found === "Directory") return ok("directory");
  if (found === "BlockDevice") return ok("device");
  const [code, why] =
    found === undefined
      ? (["NotFound", `path ${goQuote(path)} does not exist`] as const)
      : (["InvalidArgument", "only directory and block device are supported"] as const);
  return err(failedAt("NewMounter initialization", kubeletError(code, why)));
}
