/** Private keys of pods, generated on the node; they never leave it. */
import type { Call } from "./call.ts";

/** A private key with its certificate request. */
export interface PodKey {
  /** PKCS #8, PEM. */
  readonly pem: string;
  /** A PKCS #10 request that contains only the public key and proves possession of the private key: DER in base64. */
  readonly request: string;
}

export interface PodKeys {
  /**
   * Generates a key of an API key type: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519. Runs off the
   * event loop, since a large key takes seconds. Errors: InvalidArgument for any other type.
   */
  newKey(keyType: string): Call<PodKey>;
}
