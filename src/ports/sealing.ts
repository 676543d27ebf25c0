/**
 * Encryption of records that the kubelet keeps on disk for a boot without the API server, with a key of the node.
 * Calls fail with a KubeletError when the key cannot be read or made.
 */
import type { Call } from "./call.ts";

export interface Sealing {
  /** Encrypts the text of the record with this name. */
  seal(name: string, text: string): Call<string>;
  /**
   * Returns the text of a sealed record. Errors: InvalidArgument when it is damaged, has another name, or was sealed
   * with another key.
   */
  open(name: string, sealed: string): Call<string>;
}
