/**
 * Certificates from their files, again whenever they changed: a pair with its key, or what to trust. Bounds: one look at a
 * time, two files. Upstream: client-go's dynamicClientCert and caRotation, which look every five minutes and at handshakes.
 */
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { catchError, distinctUntilChanged, EMPTY, type Observable } from "rxjs";
import type { CertificateSource, TextSource, TlsIdentity } from "../core/api/clientConfig.ts";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { fromCall } from "../operators/fromCall.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_MS = 60_000;
const [BEGIN, END] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];

/** Both files, if they fit: in the middle of a rotation they do not. */
async function read({ certificate, key }: CertificateSource): Promise<TlsIdentity> {
  const identity = { certificate: await textOf(certificate), key: await textOf(key) };
  try {
    createSecureContext({ cert: identity.certificate, key: identity.key });
  } catch (thrown) {
    const what = "file" in certificate ? certificate.file : "the certificate";
    throw ioError("use", what, thrown);
  }
  return identity;
}

/** A file that is being written has no certificate, or half of one, which TLS would leave out silently. */
async function readAuthority(file: string): Promise<string> {
  const text = await textOf({ file });
  try {
    createSecureContext({ ca: text });
  } catch (thrown) {
    throw ioError("use", file, thrown);
  }
  const count = (marker: string): number => text.split(marker).length - 1;
  if (count(BEGIN) === 0) throw ioError("use", file, new Error("there is no certificate in it"));
  if (count(BEGIN) !== count(END)) throw ioError("use", file, new Error("a certificate in it is cut off"));
  return text;
}

async function textOf(source: TextSource): Promise<string> {
  if ("text" in source) return source.text;
  return readFile(source.file, "utf8").catch((thrown: unknown) => {
    throw ioError("read", source.file, thrown);
  });
}

/**
 * The identity, at once and whenever it changed.
 *
 *     files      a------b--#--c
 *     identity   a------b-----c
 *
 * Cancels: the look under way. Errors: never, nor does it complete; files that cannot be used are told to `onProblem`
 * and keep the last identity. Bound: one look at a time.
 */
export function certificateFiles(
  source: CertificateSource,
  clock: Clock,
  onProblem: (problem: KubeletError) => void,
): Observable<TlsIdentity> {
  return looks(() => read(source), clock, onProblem).pipe(
    distinctUntilChanged((a, b) => a.certificate === b.certificate && a.key === b.key),
  );
}

/** The certificates of a file, as PEM, at once and whenever they changed; otherwise as `certificateFiles`. */
export const authorityFile = (
  file: string,
  clock: Clock,
  onProblem: (problem: KubeletError) => void,
): Observable<string> => looks(() => readAuthority(file), clock, onProblem).pipe(distinctUntilChanged());

const looks = <T>(read: () => Promise<T>, clock: Clock, onProblem: (problem: KubeletError) => void): Observable<T> =>
  pollAfter(clock, LOOK_MS, () =>
    fromCall(read).pipe(
      catchError((thrown: unknown) => {
        onProblem(toKubeletError(thrown));
        return EMPTY;
      }),
    ),
  );
