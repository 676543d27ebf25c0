/**
 * A certificate and its key from their files, again after each change. Bounds: one check at a time, two files.
 * Upstream: client-go's dynamicClientCert, which checks at each handshake and every five minutes, and apiserver's dynamic
 * serving certificate, which follows hints of the file system.
 */
import { createSecureContext } from "node:tls";
import { catchError, defer, distinctUntilChanged, EMPTY, type Observable, tap } from "rxjs";
import type { CertificateSource, TextSource, TlsIdentity } from "../core/api/clientConfig.ts";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { readText } from "../fileSystem/readText.ts";
import { fromCall } from "../operators/fromCall.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_MS = 10_000;

/** Reads both files; errors if they do not match, as in the middle of a rotation. Returns `known` if both are as before. */
async function read({ certificate, key }: CertificateSource, known: TlsIdentity | undefined): Promise<TlsIdentity> {
  const identity = { certificate: await textOf(certificate), key: await textOf(key) };
  if (identity.certificate === known?.certificate && identity.key === known.key) return known;
  try {
    createSecureContext({ cert: identity.certificate, key: identity.key });
  } catch (thrown) {
    const what = "file" in certificate ? certificate.file : "the certificate";
    throw ioError("use", what, thrown);
  }
  return identity;
}

async function textOf(source: TextSource): Promise<string> {
  if ("text" in source) return source.text;
  return readText(source.file).catch((thrown: unknown) => {
    throw ioError("read", source.file, thrown);
  });
}

/**
 * Emits the identity at once, and after each change.
 *
 *     files      a------b--#--c
 *     identity   a------b-----c
 *
 * Cancels: the current check. Errors: never, nor does it complete; unusable files are reported to `onProblem` and
 * keep the last identity. Bound: one check at a time.
 */
export function certificateFiles(
  source: CertificateSource,
  clock: Clock,
  onProblem: (problem: KubeletError) => void,
): Observable<TlsIdentity> {
  return defer(() => {
    let known: TlsIdentity | undefined;
    const look = () =>
      fromCall(() => read(source, known)).pipe(
        tap((identity) => (known = identity)),
        catchError((thrown: unknown) => {
          onProblem(toKubeletError(thrown));
          return EMPTY;
        }),
      );
    return pollAfter(clock, LOOK_MS, look).pipe(distinctUntilChanged());
  });
}
