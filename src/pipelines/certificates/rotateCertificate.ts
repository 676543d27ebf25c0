/**
 * Keeps a valid certificate with the desired content: requests one if there is none, and the next one well before the
 * expiry. Owns the pair in use. Bounds: one request at a time, started at most once a second. Upstream: client-go's
 * certificate manager.
 */
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  ignoreElements,
  NEVER,
  type Observable,
  of,
  repeat,
  switchMap,
  tap,
} from "rxjs";
import type { HeldCertificate } from "../../core/cert/certificateFacts.ts";
import { type CertificateTemplate, shortcoming } from "../../core/cert/certificateTemplate.ts";
import { RENEWAL_BACKOFF, rotationDeadline } from "../../core/cert/rotationDeadline.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { EpochMs } from "../../core/ids.ts";
import { sameValue } from "../../core/sameValue.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import { untilWallTime } from "../../operators/untilWallTime.ts";
import type { Rng } from "../../ports/random.ts";
import { isValid, obtainCertificate, type ObtainOptions, type ObtainPorts } from "./obtainCertificate.ts";

/** The desired content of a certificate, its issuer and its store. */
export interface RotationOptions extends ObtainOptions {
  /** The desired content; undefined while it is unknown. */
  readonly template$: Observable<CertificateTemplate | undefined>;
  /** Called after a failed attempt. */
  onFailure?(): void;
  /** Called after a rotation with the age of the replaced certificate. */
  onRotated?(ageSeconds: number): void;
}

export interface RotationPorts extends ObtainPorts {
  readonly rng: Rng;
}

const MS_PER_SECOND = 1000;
/** Limits the rate for signers whose certificates never have the desired content. */
const PAUSE_MS = 1_000;

/**
 * Emits the pair in use: the one on disk unless it has expired, then each new one once it is on disk.
 *
 *     certificate   a valid--------deadline
 *     requests                     r--#  r---issued
 *     reported      a------------------------b------
 *
 * Cancels: the wait or the request in flight. Errors: never, nor does it complete; failures are logged and retried
 * with RENEWAL_BACKOFF. Bound: one request at a time; a new template replaces the request for the old one.
 */
export function rotateCertificate(options: RotationOptions, ports: RotationPorts): Observable<HeldCertificate> {
  return defer(() => {
    const rotation = createRotation(options, ports);
    const rounds = (template: CertificateTemplate) =>
      defer(() => concat(rotation.wait(template), rotation.renew(template))).pipe(
        repeat({ delay: () => longTimer(ports.clock, PAUSE_MS) }),
      );
    return concat(
      rotation.load(),
      options.template$.pipe(
        distinctUntilChanged((a, b) => sameValue(a, b)),
        switchMap((template) => (template === undefined ? NEVER : rounds(template))),
      ),
    );
  });
}

function createRotation(options: RotationOptions, ports: RotationPorts) {
  const { clock, rng, log } = ports;
  const { store, use } = options;
  const { signerName: signer } = use;
  let held: HeldCertificate | undefined;

  const load = (): Observable<HeldCertificate> =>
    store.current().pipe(
      catchError((thrown: unknown) => {
        log.error("The certificate on disk cannot be used", { signer, error: toKubeletError(thrown) });
        return of(undefined);
      }),
      tap((found) => {
        held = found;
      }),
      filter((found) => isValid(found, clock)),
    );

  const deadlineOf = (template: CertificateTemplate): EpochMs => {
    if (!isValid(held, clock) || held.isProvisional) return clock.wallTime();
    const lacking = shortcoming(held.facts, template);
    if (lacking !== undefined) {
      log.info(lacking, { signer });
      return clock.wallTime();
    }
    const at = rotationDeadline(held.facts, rng.next());
    const [expiration, deadline] = [formatInstant(held.facts.notAfter), formatInstant(at)];
    log.info("Certificate rotation deadline determined", { signer, expiration, deadline });
    return at;
  };

  const renew = (template: CertificateTemplate): Observable<HeldCertificate> =>
    defer(() => obtainCertificate(template, held, options, ports)).pipe(
      retryWithBackoff(RENEWAL_BACKOFF, { clock, rng }, (failure) => {
        log.error("Unable to rotate certificates", { signer, ...failure });
        options.onFailure?.();
      }),
      tap((next) => {
        if (held !== undefined) options.onRotated?.((clock.wallTime() - held.facts.notBefore) / MS_PER_SECOND);
        held = next;
      }),
    );

  const wait = (template: CertificateTemplate): Observable<never> =>
    untilWallTime(clock, deadlineOf(template)).pipe(ignoreElements());

  return { load, wait, renew };
}
