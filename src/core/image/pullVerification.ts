/**
 * Whether a pod may use an image that is on the node, or has to show that it could pull it. Counterpart:
 * MustAttemptImagePull and the policies of pkg/kubelet/images/pullmanager.
 */
import type {
  ImagePullCredentials,
  ImagePulledRecord,
  ImagePullSecret,
  ImagePullServiceAccount,
} from "./pulledRecord.ts";

/** When images need credentials; `allowlist`: names, or beginnings of names that end in `/*`. */
export type ImageVerification =
  | { readonly policy: "NeverVerify" | "NeverVerifyPreloadedImages" | "AlwaysVerify" }
  | { readonly policy: "NeverVerifyAllowlistedImages"; readonly allowlist: readonly string[] };

/** What the node knows of an image that is there. */
export interface KnownPull {
  readonly record: ImagePulledRecord | undefined;
  /** A pull of it was begun, or its record cannot be read. */
  readonly isPulled: boolean;
}

/** How a check ended, as the metric tells it. */
export type CheckResult = "credentialPolicyAllowed" | "credentialRecordFound" | "mustAuthenticate" | "error";

/** Records learn no more secrets than this from pods that merely use an image. */
const MOST_LEARNED = 100;

/** Whether pods need credentials for an image; `repository` without tag and digest. */
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

/** The end of a check, or with whom the credentials of the pod have to be compared. */
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
 * Whether a pod with these may use the image. `learned`: its secret holds the same under another name, or is the same
 * one with other content, and counts from now on.
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
