/** Keys, requests for certificates and certificates, all as PEM: what needs cryptography. */
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import type { CertificateFacts } from "../core/cert/certificateFacts.ts";
import type { CertificateTemplate } from "../core/cert/certificateTemplate.ts";
import type { CertificateUse } from "../core/cert/signingRequest.ts";
import type { Call } from "./call.ts";

/** A request that can be sent. */
export interface PreparedRequest {
  /** PKCS #10. */
  readonly pem: string;
  /** The name of a request for this key, subject and use: the same ones have the same name. */
  readonly name: string;
}

export interface Certificates {
  /** A new private key: ECDSA on P-256, as `EC PRIVATE KEY`. */
  newKey(): Call<string>;
  /** Errors: InvalidArgument for a key that is none. */
  request(key: string, template: CertificateTemplate, use: CertificateUse): Call<PreparedRequest>;
  /** What the first certificate says. Errors: InvalidArgument when it cannot be read or does not fit its key. */
  read(identity: TlsIdentity): Call<CertificateFacts>;
  /** A certificate for a host, good for a year, signed by an authority of its own that follows in the text. */
  selfSigned(host: string): Call<TlsIdentity>;
}
