/**
 * Decides whether a pod may use an image on the node or must prove with its credentials that it could pull it.
 * Upstream: MustAttemptImagePull and the policies of pkg/kubelet/images/pullmanager.
 */
import type {
  ImagePullCredentials,
  ImagePulledRecord,
  ImagePullSecret,
  ImagePullServiceAccount,
} from "./pulledRecord.ts";

/** When images require credentials; `allowlist`: names, or prefixes that end in `/*`. */
export type ImageVerification =
  | { readonly policy: "NeverVerify" | "NeverVerifyPreloadedImages" | "AlwaysVerify" }
  | { readonly policy: "NeverVerifyAllowlistedImages"; readonly allowlist: readonly string[] };

/** The node's records of an image. */
export interface KnownPull {
  readonly record: ImagePulledRecord | undefined;
  /** The kubelet started to pull it, or its record cannot be read. */
  readonly isPulled: boolean;
}

/** Outcome of a check, as in the metric's label. */
export type CheckResult = "credentialPolicyAllowed" | "credentialRecordFound" | "mustAuthenticate" | "error";

/** Maximum number of secrets that a record learns from pods that only use the image. */
const MOST_LEARNED = 100;

/** Returns whether pods need credentials for an image; `repository` is without tag and digest. */
export function needsCredentials(verification: ImageVerification, repository: string, isPulled: boolean): boolean {
  switch (verification.policy) {
    case "NeverVerify":
      return false;
    case "NeverVerifyPreloadedImages":
      return isPulled;
    case "AlwaysVerify":
      return true;
    case "NeverVerifyAllowlistedImages":
      return !verification.allowlist.some((pattern) =>
        pattern.endsWith("/*") ? repository.startsWith(pattern.slice(0, -1)) : repository === pattern,
      );
  }
}

/** Returns the outcome of a check, or the credentials to compare with the pod's. */
export function checkWithoutCredentials(
  verification: ImageVerification,
  repository: string,
  { record, isPulled }: KnownPull,
): CheckResult | ImagePullCredentials {
  if (!needsCredentials(verification, repository, isPulled)) return "credentialPolicyAllowed";
  const recorded = record?.credentialMapping[repository];
  if (recorded?.nodePodsAccessible === true) return "credentialRecordFound";
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = recorded ?? {};
  if (recorded === undefined || kubernetesSecrets.length + kubernetesServiceAccounts.length === 0) {
    return "mustAuthenticate";
  }
  return recorded;
}

const isSame = (a: ImagePullServiceAccount, b: ImagePullServiceAccount): boolean =>
  a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;

/**
 * Returns whether a pod with these credentials may use the image. `learned`: a secret to add to the record, since it
 * has a recorded content under another name, or new content under a recorded name.
 */
export function matchCredentials(
  { kubernetesSecrets = [], kubernetesServiceAccounts = [] }: ImagePullCredentials,
  shown: { readonly secrets: readonly ImagePullSecret[]; readonly account: ImagePullServiceAccount | undefined },
): { readonly mayUse: boolean; readonly learned?: ImagePullSecret } {
  const mayLearn = kubernetesSecrets.length < MOST_LEARNED;
  for (const secret of shown.secrets) {
    for (const known of kubernetesSecrets) {
      const sameContent = known.credentialHash !== "" && known.credentialHash === secret.credentialHash;
      const sameSecret = isSame(known, secret);
      if (sameContent) return sameSecret || !mayLearn ? { mayUse: true } : { mayUse: true, learned: secret };
      if (sameSecret && mayLearn) return { mayUse: true, learned: secret };
    }
  }
  const { account } = shown;
  return { mayUse: account !== undefined && kubernetesServiceAccounts.some((known) => isSame(known, account)) };
}
