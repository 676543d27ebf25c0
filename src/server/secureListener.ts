/** What makes a listener one of TLS: certificates that come one after the other, and the rules of a handshake. */
import { createServer } from "node:https";
import { createSecureContext, getCiphers, type SecureContextOptions } from "node:tls";
import { filter, map, type Observable } from "rxjs";
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { opensslCiphers, opensslGroups, opensslVersion } from "../core/config/tlsNames.ts";

/** Of KubeletConfiguration. */
export interface TlsSettings {
  readonly tlsCipherSuites: readonly string[];
  readonly tlsMinVersion: string;
  readonly tlsCurvePreferences: readonly number[];
}

/** Certificate and key of the server, and the authorities of its clients. */
export interface TlsMaterial {
  readonly identity: TlsIdentity;
  /** As PEM; undefined: clients are not asked for certificates. */
  readonly clientAuthorities: string | undefined;
}

export interface SecureListener {
  readonly createServer: typeof createServer;
  readonly options: { readonly requestCert: boolean; readonly rejectUnauthorized: false };
  /** The first opens the listener. */
  readonly contexts$: Observable<SecureContextOptions>;
}

/**
 * Makes it. Whether clients are asked for certificates is settled at the start. What cannot be used is told to
 * `onProblem`; the last one stays in use.
 */
export const secureListener = (
  material$: Observable<TlsMaterial>,
  settings: TlsSettings,
  asksForCertificates: boolean,
  onProblem: (problem: KubeletError) => void,
): SecureListener => ({
  createServer,
  options: { requestCert: asksForCertificates, rejectUnauthorized: false },
  contexts$: material$.pipe(
    map((material) => contextOf(material, settings)),
    filter((context) => isUsable(context, onProblem)),
  ),
});

const contextOf = (
  { identity: { certificate, key }, clientAuthorities }: TlsMaterial,
  { tlsCipherSuites, tlsMinVersion, tlsCurvePreferences }: TlsSettings,
): SecureContextOptions => ({
  cert: certificate,
  key,
  minVersion: opensslVersion(tlsMinVersion),
  ecdhCurve: opensslGroups(tlsCurvePreferences),
  ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities }),
  ...(tlsCipherSuites.length === 0 ? {} : { ciphers: opensslCiphers(tlsCipherSuites, getCiphers()) }),
});

function isUsable(context: SecureContextOptions, onProblem: (problem: KubeletError) => void): boolean {
  try {
    createSecureContext(context);
    return true;
  } catch (thrown) {
    onProblem(
      kubeletError("InvalidArgument", `the server cannot use its certificate: ${toKubeletError(thrown).message}`),
    );
    return false;
  }
}
