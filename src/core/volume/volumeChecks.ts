/**
 * Checks that run before each attempt to set up a persistent volume. Upstream: checkNodeAffinity and
 * checkMountOptionSupport of pkg/volume/util/operationexecutor.
 */
import { type Labels, matchesTerms } from "../admission/nodeSelection.ts";
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { VolumeLayout } from "./volumeLayout.ts";

/** Why a volume was not set up. */
export interface SetUpError extends KubeletError {
  /** The failed step in the event's terms; absent: SetUp. */
  readonly step?: string;
  /** It was set up, but not expanded. */
  readonly isExpanding?: boolean;
}

/** A wait for another pod, of which the pod's event tells at once. */
export interface BlockedVolume {
  readonly isBlocked: true;
  readonly message: string;
}

/** Step of a volume that other nodes have. */
export const NODE_AFFINITY = "NodeAffinity check";

/** Step of a volume that nobody attaches to the node. */
export const ATTACH = "Attach";

/** Returns the error with its step. */
export const failedAt = (step: string, error: KubeletError): SetUpError => ({ ...error, step });

/** Returns the first failed check; `labels` is undefined while the node is unknown. */
export function failedCheck(
  { nodeTerms, hasVainMountOptions }: Pick<VolumeLayout, "nodeTerms" | "hasVainMountOptions">,
  labels: Labels | undefined,
): SetUpError | undefined {
  if (nodeTerms !== undefined && labels !== undefined && !matchesTerms(nodeTerms, "", labels)) {
    return failedAt(NODE_AFFINITY, kubeletError("Rejected", "no matching NodeSelectorTerms"));
  }
  if (hasVainMountOptions !== true) return undefined;
  const message = "mount options are not supported for this volume type";
  return failedAt("MountOptionSupport check", kubeletError("InvalidArgument", message));
}

/**
 * Returns the type of a local volume's path, links followed. Any type but directory and block device fails before it is
 * touched.
 */
export function localSource(path: string, found: string | undefined): Result<"directory" | "device"> {
  if (found === "Directory") return ok("directory");
  if (found === "BlockDevice") return ok("device");
  const [code, why] =
    found === undefined
      ? (["NotFound", `path ${goQuote(path)} does not exist`] as const)
      : (["InvalidArgument", "only directory and block device are supported"] as const);
  return err(failedAt("NewMounter initialization", kubeletError(code, why)));
}
