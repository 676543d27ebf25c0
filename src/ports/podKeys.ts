/** Private keys of pods, made on the node and never told to anybody else. */
import type { Call } from "./call.ts";

export interface PodKey {
  /** PKCS #8, PEM. */
  readonly pem: string;
  /** A PKCS #10 request that says nothing but the key, and proves that it is held: DER in base64. */
  readonly request: string;
}

export interface PodKeys {
  /**
   * A new key of a type of the API: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519. Off the event loop: a
   * large one takes seconds. Errors: InvalidArgument for any other type.
   */
  newKey(keyType: string): Call<PodKey>;
}
