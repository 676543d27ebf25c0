/**
 * Obtains a certificate: a valid pair that appeared on disk, or a new one from an issuer, which is on disk before it is
 * emitted. Keeps no state. Bound: one request per subscription.
 */
import { catchError, concat, EMPTY, ignoreElements, type Observable, of, switchMap, throwError } from "rxjs";
import { type HeldCertificate, isExpired } from "../../core/cert/certificateFacts.ts";
import type { CertificateTemplate } from "../../core/cert/certificateTemplate.ts";
import { type CertificateUse, signingRequest } from "../../core/cert/signingRequest.ts";
import { kubeletError, toKubeletError, type KubeletError } from "../../core/errors.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { orElse } from "../../operators/orElse.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Certificates } from "../../ports/certificates.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { CertificateStore } from "./certificateStore.ts";
import { issueCertificate } from "./issueCertificate.ts";

/** The issuer of a certificate. */
export interface CertificateIssuer {
  readonly api: ApiServer;
  /** Whether it uses bootstrap credentials: such a request may wait long for approval, so its name and key are kept. */
  readonly isBootstrap: boolean;
}

export interface ObtainOptions {
  readonly use: CertificateUse;
  readonly store: CertificateStore;
  /** Returns the issuer; undefined when only a valid certificate could authenticate the request. */
  issuer(holdsValid: boolean): CertificateIssuer | undefined;
}

export interface ObtainPorts {
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Whether there is a pair that has not expired. */
export const isValid = (found: HeldCertificate | undefined, clock: Clock): found is HeldCertificate =>
  found !== undefined && !isExpired(found.facts, clock.wallTime());

/**
 * Obtains a pair with the content of the template; `held` is the pair in use. Cancels: the request. Errors: those of the
 * store and the issuer, and PermissionDenied if there is no issuer.
 */
export function obtainCertificate(
  template: CertificateTemplate,
  held: HeldCertificate | undefined,
  options: ObtainOptions,
  ports: ObtainPorts,
): Observable<HeldCertificate> {
  const { clock } = ports;
  if (isValid(held, clock)) return issue(template, held, options, ports);
  return options.store.current().pipe(
    orElse(() => of(undefined)),
    switchMap((found) => (isValid(found, clock) ? of(found) : issue(template, held, options, ports))),
  );
}

function issue(
  template: CertificateTemplate,
  held: HeldCertificate | undefined,
  options: ObtainOptions,
  ports: ObtainPorts,
): Observable<HeldCertificate> {
  const { store } = options;
  const issuer = options.issuer(isValid(held, ports.clock));
  if (issuer === undefined) return failure(noIssuer(held));
  const issueFor = (key$: Observable<string>) =>
    key$.pipe(
      switchMap((key) =>
        ports.certificates.request(key, template, options.use).pipe(
          switchMap(({ pem, name }) => submit(issuer, pem, issuer.isBootstrap ? name : undefined, options.use, ports)),
          switchMap((certificate) => store.keep({ certificate, key })),
        ),
      ),
    );
  if (!issuer.isBootstrap) return issueFor(ports.certificates.newKey());
  return issueFor(store.pendingKey()).pipe(
    // A broken key, or a key with a broken certificate, would fail in all further tries.
    catchError((thrown: unknown) =>
      toKubeletError(thrown).code === "InvalidArgument" ? concat(forgetKey(store), failure(thrown)) : failure(thrown),
    ),
    switchMap((kept) => concat(forgetKey(store), of(kept))),
  );
}

function submit(
  { api }: CertificateIssuer,
  pem: string,
  name: string | undefined,
  use: CertificateUse,
  { clock, log }: ObtainPorts,
): Observable<string> {
  const { signerName: signer } = use;
  log.info("Requesting a certificate", name === undefined ? { signer } : { signer, request: name });
  return issueCertificate(api, signingRequest(use, pem, name), clock);
}

/** Removes the pending key. A failure does not prevent the use of the certificate. */
const forgetKey = (store: CertificateStore): Observable<never> =>
  store.dropPendingKey().pipe(
    orElse(() => EMPTY),
    ignoreElements(),
  );

const failure = (error: unknown) => throwError(() => error);

const noIssuer = (held: HeldCertificate | undefined): KubeletError =>
  kubeletError(
    "PermissionDenied",
    held === undefined
      ? "there is no client certificate, and no --bootstrap-kubeconfig to request one with"
      : `the client certificate expired at ${formatInstant(held.facts.notAfter)}, and there is no --bootstrap-kubeconfig to request another with`,
  );
