/** The self-signed pair of a node: created if there is none, and never replaced, as in upstream. */
import { concat, defer, EMPTY, forkJoin, ignoreElements, type Observable, switchMap, throwError } from "rxjs";
import type { PairPaths } from "../../core/cert/servingSource.ts";
import { kubeletError } from "../../core/errors.ts";
import type { Certificates } from "../../ports/certificates.ts";
import type { Files } from "../../ports/files.ts";

const DIRECTORY_MODE = 0o755;
const PUBLIC_MODE = 0o644;
const PRIVATE_MODE = 0o600;

/**
 * Completes when both files exist. Cancels: the current step. Errors: InvalidArgument for a key without a
 * certificate, which some other program owns; those of the files. A certificate without a key is an earlier,
 * incomplete attempt. Upstream: CanReadCertAndKey and GenerateSelfSignedCertKey of client-go.
 */
export const selfSignedPair = (
  { certificate, key }: PairPaths,
  host: string,
  { files, certificates }: { readonly files: Files; readonly certificates: Certificates },
): Observable<never> =>
  defer(() => forkJoin([files.kindOf(certificate), files.kindOf(key)])).pipe(
    switchMap(([certificateKind, keyKind]): Observable<unknown> => {
      if (certificateKind !== undefined && keyKind !== undefined) return EMPTY;
      if (keyKind !== undefined) return throwError(() => withoutCertificate(key, certificate));
      return certificates
        .selfSigned(host)
        .pipe(
          switchMap((pair) =>
            concat(
              files.makeDirectory(certificate.slice(0, certificate.lastIndexOf("/")), DIRECTORY_MODE),
              files.replaceFile(certificate, pair.certificate, PUBLIC_MODE),
              files.replaceFile(key, pair.key, PRIVATE_MODE),
            ),
          ),
        );
    }),
    ignoreElements(),
  );

const withoutCertificate = (key: string, certificate: string) =>
  kubeletError("InvalidArgument", `${key} is there without ${certificate}: they must be supplied as a pair`);
