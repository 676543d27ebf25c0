/**
 * Selects the trust anchors of a pod from the ClusterTrustBundles. Upstream: pkg/kubelet/clustertrustbundle.
 * Differs from upstream: the anchors are sorted by their bytes instead of shuffled per kubelet start, so that a restart
 * changes no file.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { goQuote } from "../container/goJson.ts";
import { kubeletError } from "../errors.ts";
import type { LabelSelector } from "../labelSelector.ts";
import { matchesLabels } from "../labelSelector.ts";
import { perObject } from "../perObject.ts";
import { err, ok, type Result } from "../result.ts";
import { certificateBlock, pemContents } from "./pemBlocks.ts";

export type TrustBundle = ApiObjects["clustertrustbundles"];

/** Selects one bundle by name, or the bundles of a signer that match the labels. */
export interface AnchorsWish {
  readonly name?: string;
  readonly signerName?: string;
  readonly labelSelector?: LabelSelector;
  /** Missing bundles count as empty. */
  readonly optional?: boolean;
}

/** The error of a kubelet without trust bundles; upstream's text. */
export const NO_TRUST_BUNDLES: Result<never> = err(
  kubeletError("Unimplemented", "ClusterTrustBundle projection is not supported in static kubelet mode"),
);
/** The error when the API server has not listed the bundles in time. */
export const BUNDLES_NOT_SYNCED: Result<never> = err(
  kubeletError("DeadlineExceeded", "ClusterTrustBundle informer has not yet synced"),
);

const contentsOf = perObject(({ spec }: TrustBundle) => pemContents(spec.trustBundle));

/** Returns the PEM text of the selected bundles, each certificate once; `bundles` are keyed by name. */
export function trustAnchors(wish: AnchorsWish, bundles: ReadonlyMap<string, TrustBundle>): Result<string> {
  const { name, signerName, optional = false } = wish;
  if (name !== undefined) {
    const bundle = bundles.get(name);
    if (bundle !== undefined) return ok(normalized([bundle]));
    const message = `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io ${goQuote(name)} not found`;
    return optional ? ok("") : err(kubeletError("NotFound", message));
  }
  if (signerName === undefined) {
    const message = "ClusterTrustBundle projection requires either name or signerName to be set";
    return err(kubeletError("InvalidArgument", message));
  }
  return ofSigner(signerName, wish, bundles);
}

function ofSigner(
  signerName: string,
  { labelSelector, optional = false }: AnchorsWish,
  bundles: ReadonlyMap<string, TrustBundle>,
): Result<string> {
  const found: TrustBundle[] = [];
  for (const bundle of bundles.values()) {
    const isMatch = matchesLabels(labelSelector, bundle.metadata?.labels ?? {});
    if (!isMatch.ok) {
      return err({ ...isMatch.error, message: `while parsing label selector: ${isMatch.error.message}` });
    }
    if (isMatch.value && bundle.spec.signerName === signerName) found.push(bundle);
  }
  if (found.length > 0 || optional) return ok(normalized(found));
  return err(kubeletError("NotFound", "combination of signerName and labelSelector matched zero ClusterTrustBundles"));
}

const normalized = (bundles: readonly TrustBundle[]): string =>
  [...new Set(bundles.flatMap(contentsOf))].sort().map(certificateBlock).join("");
