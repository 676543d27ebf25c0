/** Cryptography for the kubelet's own certificates: keys, signing requests and certificates, all as PEM. */
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import type { CertificateFacts } from "../core/cert/certificateFacts.ts";
import type { CertificateTemplate } from "../core/cert/certificateTemplate.ts";
import type { CertificateUse } from "../core/cert/signingRequest.ts";
import type { Call } from "./call.ts";

/** A signing request that is ready to be sent. */
export interface PreparedRequest {
  /** PKCS #10. */
  readonly pem: string;
  /** Name of the request, derived from its key, subject and use: equal inputs give equal names. */
  readonly name: string;
}

/** Creates and reads keys, requests and certificates. */
export interface Certificates {
  /** Creates a private key: ECDSA on P-256, as `EC PRIVATE KEY`. */
  newKey(): Call<string>;
  /** Creates a signing request. Errors: InvalidArgument when the key is not a private key. */
  request(key: string, template: CertificateTemplate, use: CertificateUse): Call<PreparedRequest>;
  /**
   * Returns the facts of the first certificate. Errors: InvalidArgument when it cannot be read or does not match its
   * key.
   */
  read(identity: TlsIdentity): Call<CertificateFacts>;
  /**
   * Creates a certificate for a host, valid for a year, signed by its own CA, whose certificate follows in the PEM
   * text.
   */
  selfSigned(host: string): Call<TlsIdentity>;
}
