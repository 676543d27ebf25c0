/**
 * Decides the time of a certificate's renewal. Upstream: nextRotationDeadline and rotateCerts of client-go's
 * certificate manager.
 */
import { type EpochMs, epochMs } from "../ids.ts";
import type { CertificateFacts } from "./certificateFacts.ts";

const EARLIEST = 0.7;
const SPREAD = 0.2;

/**
 * Returns a time between 70 % and 90 % of the certificate's validity, chosen by `random01` in [0, 1), so that nodes
 * created together do not renew together.
 */
export const rotationDeadline = (
  { notBefore, notAfter }: Pick<CertificateFacts, "notBefore" | "notAfter">,
  random01: number,
): EpochMs => epochMs(Math.round(notBefore + (notAfter - notBefore) * (EARLIEST + SPREAD * random01)));

/** Backoff of failed renewals: 2 s doubling to 32 s, with up to 10 % jitter. */
export const RENEWAL_BACKOFF = { initialMs: 2_000, maxMs: 32_000, jitter: 0.1 } as const;
