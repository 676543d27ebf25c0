/**
 * Keeps a certificate that says what it should and has not expired: asks for one when there is none, and for the next
 * one well before the end. Owns the pair in use. Bounds: one request at a time, begun at most once a second.
 * Counterpart: client-go's certificate manager.
 */
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  NEVER,
  type Observable,
  of,
  repeat,
  switchMap,
  tap,
  throwError,
} from "rxjs";
import { type HeldCertificate, isExpired } from "../../core/cert/certificateFacts.ts";
import { type CertificateTemplate, shortcoming } from "../../core/cert/certificateTemplate.ts";
import { RENEWAL_BACKOFF, rotationDeadline } from "../../core/cert/rotationDeadline.ts";
import { type CertificateUse, signingRequest } from "../../core/cert/signingRequest.ts";
import { kubeletError, toKubeletError, type KubeletError } from "../../core/errors.ts";
import type { EpochMs } from "../../core/ids.ts";
import { sameValue } from "../../core/sameValue.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import { orElse } from "../../operators/orElse.ts";
import { untilWallTime } from "../../operators/untilWallTime.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Certificates } from "../../ports/certificates.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Rng } from "../../ports/random.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { CertificateStore } from "./certificateStore.ts";
import { issueCertificate } from "./issueCertificate.ts";

/** The issuer of a certificate. */
export interface CertificateIssuer {
  readonly api: ApiServer;
  /** Its request has a name and a key that outlive a restart: somebody has to approve it, which may take long. */
  readonly isBootstrap: boolean;
}

export interface RotationOptions {
  readonly use: CertificateUse;
  /** The desired content; undefined while it is not known. */
  readonly template$: Observable<CertificateTemplate | undefined>;
  readonly store: CertificateStore;
  /** Returns the issuer; undefined when a valid certificate is required to ask. */
  issuer(holdsValid: boolean): CertificateIssuer | undefined;
  /** A try failed. */
  onFailure?(): void;
  /** Called after a rotation with the age of the replaced certificate. */
  onRotated?(ageSeconds: number): void;
}

export interface RotationPorts {
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
}

const MS_PER_SECOND = 1000;
/** Against signers whose certificates are never good enough. */
const PAUSE_MS = 1_000;

/**
 * The pair in use: the one on disk unless it has expired, then each new one once it is on disk.
 *
 *     certificate   a valid--------deadline
 *     requests                     r--#  r---issued
 *     told          a------------------------b------
 *
 * Cancels: the wait or the request under way. Errors: never, nor does it complete; what fails is logged and tried again
 * with RENEWAL_BACKOFF. Bound: one request at a time; a new template takes the place of the request for the old one.
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

function createRotation(options: RotationOptions, { certificates, clock, rng, log }: RotationPorts) {
  const { store, use } = options;
  const { signerName: signer } = use;
  let held: HeldCertificate | undefined;
  const isValid = (found: HeldCertificate | undefined): found is HeldCertificate =>
    found !== undefined && !isExpired(found.facts, clock.wallTime());

  const load = (): Observable<HeldCertificate> =>
    store.current().pipe(
      catchError((thrown: unknown) => {
        log.error("The certificate on disk cannot be used", { signer, error: toKubeletError(thrown) });
        return of(undefined);
      }),
      tap((found) => {
        held = found;
      }),
      filter(isValid),
    );

  const deadlineOf = (template: CertificateTemplate): EpochMs => {
    if (!isValid(held) || held.isProvisional) return clock.wallTime();
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

  /** A pair that somebody else put there, or a new one. */
  const obtain = (template: CertificateTemplate): Observable<HeldCertificate> => {
    if (isValid(held)) return issue(template);
    return store.current().pipe(
      orElse(() => of(undefined)),
      switchMap((found) => (isValid(found) ? of(found) : issue(template))),
    );
  };

  const issue = (template: CertificateTemplate): Observable<HeldCertificate> => {
    const issuer = options.issuer(isValid(held));
    if (issuer === undefined) return failure(nobodyToAsk(held));
    if (!issuer.isBootstrap) return issueFor(certificates.newKey(), issuer, template);
    return issueFor(store.pendingKey(), issuer, template).pipe(
      // A key that is broken, or whose certificate is, would fail for ever.
      catchError((thrown: unknown) =>
        toKubeletError(thrown).code === "InvalidArgument" ? concat(forgetKey(), failure(thrown)) : failure(thrown),
      ),
      switchMap((kept) => concat(forgetKey(), of(kept))),
    );
  };

  /** Removes the key. A failure does not prevent the use of the certificate. */
  const forgetKey = () =>
    store.dropPendingKey().pipe(
      orElse(() => EMPTY),
      ignoreElements(),
    );

  const issueFor = (
    key$: Observable<string>,
    issuer: CertificateIssuer,
    template: CertificateTemplate,
  ): Observable<HeldCertificate> =>
    key$.pipe(
      switchMap((key) =>
        certificates.request(key, template, use).pipe(
          switchMap(({ pem, name }) => submit(issuer, pem, issuer.isBootstrap ? name : undefined)),
          switchMap((certificate) => store.keep({ certificate, key })),
        ),
      ),
    );

  const submit = ({ api }: CertificateIssuer, pem: string, name: string | undefined): Observable<string> => {
    log.info("Requesting a certificate", name === undefined ? { signer } : { signer, request: name });
    return issueCertificate(api, signingRequest(use, pem, name), clock);
  };

  const renew = (template: CertificateTemplate): Observable<HeldCertificate> =>
    defer(() => obtain(template)).pipe(
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

const failure = (error: unknown) => throwError(() => error);

const nobodyToAsk = (held: HeldCertificate | undefined): KubeletError =>
  kubeletError(
    "PermissionDenied",
    held === undefined
      ? "there is no client certificate, and no --bootstrap-kubeconfig to ask for one with"
      : `the client certificate expired at ${formatInstant(held.facts.notAfter)}, and there is no --bootstrap-kubeconfig to ask for another with`,
  );
