/** When a certificate is renewed. Counterpart: nextRotationDeadline, rotateCerts of client-go's certificate manager. */
import { type EpochMs, epochMs } from "../ids.ts";
import type { CertificateFacts } from "./certificateFacts.ts";

const EARLIEST = 0.7;
const SPREAD = 0.2;

/** An instant between 70 % and 90 % of its life, by `random01` in [0, 1): nodes made together do not renew together. */
export const rotationDeadline = (
  { notBefore, notAfter }: Pick<CertificateFacts, "notBefore" | "notAfter">,
  random01: number,
): EpochMs => epochMs(Math.round(notBefore + (notAfter - notBefore) * (EARLIEST + SPREAD * random01)));

/** Waits after failed tries: 2 s doubling to 32 s, and every 32 s from then on, each up to a tenth longer. */
export const RENEWAL_BACKOFF = { initialMs: 2_000, maxMs: 32_000, jitter: 0.1 } as const;
