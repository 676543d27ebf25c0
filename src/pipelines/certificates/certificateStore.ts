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
  ports: CertificateStorePorts,
): CertificateStore {
  const { files, certificates, clock } = ports;
  const currentPath = currentPairPath(directory, prefix);
  const keyPath = `${directory}/${prefix}.key.tmp`;
  const held = (identity: TlsIdentity, isProvisional: boolean): Call<HeldCertificate> =>
    certificates.read(identity).pipe(map((facts) => ({ identity, facts, isProvisional })));
  const keepFile = (identity: TlsIdentity): Observable<never> => {
    const path = datedPairPath(directory, prefix, clock.wallTime());
    return concat(
      files.makeDirectory(directory, DIRECTORY_MODE),
      files.replaceFile(path, pairText(identity), PRIVATE_MODE),
      files.symlink(path, currentPath),
    ).pipe(ignoreElements());
  };
  const hasExpired = ({ facts }: HeldCertificate): boolean => isExpired(facts, clock.wallTime());
  /**
   * The pair in a kubeconfig goes to the directory at once: `kubeadm init` then makes the kubeconfig name that file instead.
   * It is used all the same when it cannot be written.
   */
  const provisional = (identity: TlsIdentity): Call<HeldCertificate> =>
    held(identity, true).pipe(
      switchMap((found) => concat(hasExpired(found) ? EMPTY : keepFile(identity).pipe(orElse(() => EMPTY)), of(found))),
    );
  const given = (source: CertificateSource): Observable<HeldCertificate | undefined> =>
    pairAt(files, source).pipe(
      switchMap((pair) => {
        if (pair === undefined) return of(undefined);
        return "text" in source.certificate ? provisional(pair) : held(pair, false);
      }),
    );
  return {
    current: () =>
      textAt(files, { file: currentPath }).pipe(
        switchMap((text) => {
          if (text === undefined) return fallback === undefined ? of(undefined) : given(fallback);
          const pair = pairIn(text);
          return pair === undefined ? rethrow(noPair(currentPath)) : held(pair, false);
        }),
      ),
    keep: (identity) =>
      held(identity, false).pipe(
        switchMap((kept) =>
          hasExpired(kept)
            ? rethrow(kubeletError("InvalidArgument", "the certificate issued has expired already"))
            : concat(keepFile(identity), of(kept)),
        ),
      ),
    pendingKey: () => pendingKey(ports, directory, keyPath),
    dropPendingKey: () => files.remove(keyPath),
  };
}

/** Returns the key in the file; makes one if there is none. */
const pendingKey = ({ files, certificates }: CertificateStorePorts, directory: string, path: string): Call<string> =>
  textAt(files, { file: path }).pipe(
    switchMap((text) => {
      if (text !== undefined && text !== "") return of(text);
      return certificates
        .newKey()
        .pipe(
          switchMap((key) =>
            concat(
              ended(files.makeDirectory(directory, DIRECTORY_MODE)),
              ended(files.replaceFile(path, key, PRIVATE_MODE)),
              of(key),
            ),
          ),
        );
    }),
  );

/** Emits the text; undefined when there is no such file. */
const textAt = (files: Files, source: TextSource): Observable<string | undefined> =>
  "text" in source
    ? of(source.text)
    : files
        .readTail(source.file, MAX_BYTES, "followed")
        .pipe(
          catchError((thrown: unknown) =>
            toKubeletError(thrown).code === "NotFound" ? of(undefined) : rethrow(thrown),
          ),
        );

/** Emits the pair; undefined while a part of it is missing. */
const pairAt = (files: Files, source: CertificateSource): Observable<TlsIdentity | undefined> =>
  forkJoin({ certificate: textAt(files, source.certificate), key: textAt(files, source.key) }).pipe(
    map(({ certificate, key }) => (certificate === undefined || key === undefined ? undefined : { certificate, key })),
  );

const rethrow = (error: unknown) => throwError(() => error);

const noPair = (path: string) => kubeletError("InvalidArgument", `${path} has no certificate with its key`);

/** Passes on only the completion or error of a step. */
const ended = (step$: Observable<unknown>): Observable<never> => step$.pipe(ignoreElements());
