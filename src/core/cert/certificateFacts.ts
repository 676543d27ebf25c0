/** The fields of a certificate and its validity period. Times are wall-clock times. */
import type { TlsIdentity } from "../api/clientConfig.ts";
import type { EpochMs } from "../ids.ts";

/** The fields of a certificate that decisions depend on. */
export interface CertificateFacts {
  readonly notBefore: EpochMs;
  readonly notAfter: EpochMs;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** Canonical form. */
  readonly ipAddresses: readonly string[];
}

/** A certificate with its key and its fields. */
export interface HeldCertificate {
  readonly identity: TlsIdentity;
  readonly facts: CertificateFacts;
  /** Part of a bootstrap kubeconfig: only used to request the node's own certificate. */
  readonly isProvisional: boolean;
}

const MS_PER_SECOND = 1000;

/** Returns whether the certificate has expired; one that is not valid yet counts as usable, as upstream. */
export const isExpired = ({ notAfter }: CertificateFacts, now: EpochMs): boolean => now > notAfter;

/** Returns the whole seconds until expiry, negative afterwards; +Inf without a certificate, as in upstream's gauges. */
export const ttlSeconds = (notAfter: EpochMs | undefined, now: EpochMs): number =>
  notAfter === undefined ? Number.POSITIVE_INFINITY : Math.trunc((notAfter - now) / MS_PER_SECOND);
