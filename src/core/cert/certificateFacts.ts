/** What a certificate says of itself, and for how long it counts. Instants are of the wall clock. */
import type { TlsIdentity } from "../api/clientConfig.ts";
import type { EpochMs } from "../ids.ts";

/** The fields of a certificate that decisions are made from. */
export interface CertificateFacts {
  readonly notBefore: EpochMs;
  readonly notAfter: EpochMs;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** In their shortest form. */
  readonly ipAddresses: readonly string[];
}

/** A certificate with its key, and what it says. */
export interface HeldCertificate {
  readonly identity: TlsIdentity;
  readonly facts: CertificateFacts;
  /** Part of a kubeconfig: only good to ask for one of the node's own. */
  readonly isProvisional: boolean;
}

const MS_PER_SECOND = 1000;

/** Whether its time is over; one that is not valid yet counts as usable, as upstream takes it. */
export const isExpired = ({ notAfter }: CertificateFacts, now: EpochMs): boolean => now > notAfter;

/** Whole seconds until it expires, negative afterwards; +Inf when there is none, as upstream's gauges have it. */
export const ttlSeconds = (notAfter: EpochMs | undefined, now: EpochMs): number =>
  notAfter === undefined ? Number.POSITIVE_INFINITY : Math.trunc((notAfter - now) / MS_PER_SECOND);
