/** TLS settings of a listener: certificates that rotate, and handshake options. */
import { createServer } from "node:https";
import { createSecureContext, getCiphers, type SecureContextOptions } from "node:tls";
import { filter, map, type Observable } from "rxjs";
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { opensslCiphers, opensslGroups, opensslVersion } from "../core/config/tlsNames.ts";

/** TLS fields of KubeletConfiguration. */
export interface TlsSettings {
  readonly tlsCipherSuites: readonly string[];
  readonly tlsMinVersion: string;
  readonly tlsCurvePreferences: readonly number[];
}

/** Certificate and key of the server, and the authorities for client certificates. */
export interface TlsMaterial {
  readonly identity: TlsIdentity;
  /** PEM; undefined if clients are not asked for certificates. */
  readonly clientAuthorities: string | undefined;
}

export interface SecureListener {
  readonly createServer: typeof createServer;
  readonly options: { readonly requestCert: boolean; readonly rejectUnauthorized: false };
  /** The first emission opens the listener. */
  readonly contexts$: Observable<SecureContextOptions>;
}

/**
 * Creates the listener settings. Whether clients are asked for certificates is fixed at start. Unusable material is
 * reported to `onProblem`, and the previous one stays in use.
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
