/**
 * The user that sends a request to the kubelet's server. Upstream: apiserver's user.Info and the authenticators that
 * create it.
 */
import type { V1TokenReviewStatus } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";

/** A user, as authorization needs it. */
export interface RequestUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const AUTHENTICATED = "system:authenticated";

/** The user of requests without credentials, where anonymous requests are allowed. */
export const ANONYMOUS: RequestUser = { name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} };

/** The subject of a client certificate signed by a trusted CA. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in hex. */
  readonly fingerprint: string;
}

const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED];

/**
 * Returns the user of a certificate: its common name, with its organizations as groups; undefined without a common
 * name.
 */
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

/** Returns the user that a TokenReview found; undefined when the token is invalid. */
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
