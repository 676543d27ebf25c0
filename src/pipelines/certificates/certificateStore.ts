/**
 * Certificates on disk in the layout of upstream's store: PREFIX-current.pem links to the newest dated file with
 * certificates and key. The rotation is the only writer. Upstream: client-go's certificate_store.go.
 */
import {
  catchError,
  concat,
  EMPTY,
  forkJoin,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import type { CertificateSource, TextSource, TlsIdentity } from "../../core/api/clientConfig.ts";
import { type HeldCertificate, isExpired } from "../../core/cert/certificateFacts.ts";
import { currentPairPath, datedPairPath, pairIn, pairText } from "../../core/cert/pemFile.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { orElse } from "../../operators/orElse.ts";
import type { Call } from "../../ports/call.ts";
import type { Certificates } from "../../ports/certificates.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Files } from "../../ports/files.ts";

/** The certificate files of one use on disk. */
export interface CertificateStore {
  /** Returns the pair in use; undefined if there is none. Errors: if the files cannot be used. */
  current(): Call<HeldCertificate | undefined>;
  /** Writes an issued pair. Errors: InvalidArgument if it does not match or has expired; then nothing is written. */
  keep(identity: TlsIdentity): Call<HeldCertificate>;
  /** Returns the key of the pending request; creates and writes one if there is none. */
  pendingKey(): Call<string>;
  /** Removes that key. */
  dropPendingKey(): Call<void>;
}

export interface CertificateStoreOptions {
  /** Absolute path. */
  readonly directory: string;
  /** `kubelet-client` or `kubelet-server`. */
  readonly prefix: string;
  /** Location of a pair to use while the directory has none. */
  readonly fallback: CertificateSource | undefined;
}

export interface CertificateStorePorts {
  readonly files: Files;
  readonly certificates: Certificates;
  readonly clock: Clock;
}

/** Far more than a certificate chain needs. */
const MAX_BYTES = 1024 * 1024;
const DIRECTORY_MODE = 0o755;
const PRIVATE_MODE = 0o600;

/** Creates a store; reads nothing yet. */
export function certificateStore(
  { directory, prefix, fallback }: CertificateStoreOptions,
  { files, certificates, clock }: CertificateStorePorts,
): CertificateStore {
  const currentPath = currentPairPath(directory, prefix);
  const keyPath = `${directory}/${prefix}.key.tmp`;
  const textOf = (path: string): Observable<string | undefined> =>
    files
      .readTail(path, MAX_BYTES, "followed")
      .pipe(
        catchError((thrown: unknown) => (toKubeletError(thrown).code === "NotFound" ? of(undefined) : rethrow(thrown))),
      );
  const textAt = (source: TextSource) => ("text" in source ? of(source.text) : textOf(source.file));
  const fallbackPair = ({ certificate, key }: CertificateSource): Observable<HeldCertificate | undefined> =>
    forkJoin({ certificate: textAt(certificate), key: textAt(key) }).pipe(
      switchMap((found) =>
        found.certificate === undefined || found.key === undefined
          ? of(undefined)
          : "text" in certificate
            ? provisional({ certificate: found.certificate, key: found.key })
            : held({ certificate: found.certificate, key: found.key }, false),
      ),
    );
  const held = (identity: TlsIdentity, isProvisional: boolean): Call<HeldCertificate> =>
    certificates.read(identity).pipe(map((facts) => ({ identity, facts, isProvisional })));
  /**
   * The pair in a kubeconfig goes to the directory at once: `kubeadm init` then makes the kubeconfig name that file instead.
   * It is used all the same when it cannot be written.
   */
  const provisional = (identity: TlsIdentity): Call<HeldCertificate> =>
    held(identity, true).pipe(
      switchMap((found) =>
        isExpired(found.facts, clock.wallTime())
          ? of(found)
          : concat(ended(keepFile(identity)).pipe(orElse(() => EMPTY)), of(found)),
      ),
    );
  const keepFile = (identity: TlsIdentity): Observable<unknown> => {
    const path = datedPairPath(directory, prefix, clock.wallTime());
    return concat(
      files.makeDirectory(directory, DIRECTORY_MODE),
      files.replaceFile(path, pairText(identity), PRIVATE_MODE),
      files.symlink(path, currentPath),
    );
  };
  return {
    current: () =>
      textOf(currentPath).pipe(
        switchMap((text) => {
          if (text === undefined) return fallback === undefined ? of(undefined) : fallbackPair(fallback);
          const pair = pairIn(text);
          return pair === undefined ? rethrow(noPair(currentPath)) : held(pair, false);
        }),
      ),
    keep: (identity) =>
      held(identity, false).pipe(
        switchMap((kept) =>
          isExpired(kept.facts, clock.wallTime())
            ? rethrow(kubeletError("InvalidArgument", "the certificate issued has expired already"))
            : concat(ended(keepFile(identity)), of(kept)),
        ),
      ),
    pendingKey: () =>
      textOf(keyPath).pipe(
        switchMap((text) =>
          text !== undefined && text !== ""
            ? of(text)
            : certificates
                .newKey()
                .pipe(
                  switchMap((key) =>
                    concat(
                      ended(files.makeDirectory(directory, DIRECTORY_MODE)),
                      ended(files.replaceFile(keyPath, key, PRIVATE_MODE)),
                      of(key),
                    ),
                  ),
                ),
        ),
      ),
    dropPendingKey: () => files.remove(keyPath),
  };
}

const rethrow = (error: unknown) => throwError(() => error);

const noPair = (path: string) => kubeletError("InvalidArgument", `${path} has no certificate with its key`);

/** Passes on only the completion or error of a step. */
const ended = (step$: Observable<unknown>): Observable<never> => step$.pipe(ignoreElements());
