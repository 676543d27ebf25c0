/** Who sends a request to the kubelet's server. Counterpart: apiserver's user.Info and the authenticators that make it. */
import type { V1TokenReviewStatus } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";

/** A user as authorization sees one. */
export interface RequestUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const AUTHENTICATED = "system:authenticated";

/** Of requests without credentials, where those are let in. */
export const ANONYMOUS: RequestUser = { name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} };

/** The subject of a client certificate that an authority of ours has signed. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, hex. */
  readonly fingerprint: string;
}

const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED];

/** The user a certificate names: its common name, in its organizations. Without a common name: nobody. */
export function certificateUser({
  commonName,
  organizations,
  fingerprint,
}: CertificateSubject): RequestUser | undefined {
  if (commonName === "") return undefined;
  return {
    name: commonName,
    groups: withAuthenticated(organizations),
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
}

/** The user a TokenReview found; undefined: the token is no good. */
export function reviewedUser(status: Wire<V1TokenReviewStatus> | undefined): RequestUser | undefined {
  if (status?.authenticated !== true || status.user === undefined) return undefined;
  const { username = "", uid, groups, extra } = status.user;
  return {
    name: username,
    ...(uid === undefined || uid === "" ? {} : { uid }),
    groups: withAuthenticated(groups ?? []),
    extra: extra ?? {},
  };
}
