/**
 * The authorities a pod asks for out of the cluster's bundles. Counterpart: pkg/kubelet/clustertrustbundle.
 * Differs from upstream: they come in the order of their bytes, not in another one after each start of the kubelet, so
 * that a start changes no file.
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

/** Which bundles: one by its name, or those of a signer that have the labels. */
export interface AnchorsWish {
  readonly name?: string;
  readonly signerName?: string;
  readonly labelSelector?: LabelSelector;
  /** Bundles that are not there are as good as empty ones. */
  readonly optional?: boolean;
}

/** Everything a kubelet does not serve, in upstream's words. */
export const NO_TRUST_BUNDLES: Result<never> = err(
  kubeletError("Unimplemented", "ClusterTrustBundle projection is not supported in static kubelet mode"),
);
/** The server has not told of them in time. */
export const BUNDLES_NOT_SYNCED: Result<never> = err(
  kubeletError("DeadlineExceeded", "ClusterTrustBundle informer has not yet synced"),
);

const contentsOf = perObject(({ spec }: TrustBundle) => pemContents(spec.trustBundle));

/** The PEM text of the bundles that are meant, each certificate once; `bundles` by name. */
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
