/** Identification of the clients of the local socket. */
import type { LocalPeer } from "../core/local/localSocket.ts";
import type { Call } from "./call.ts";

export interface LocalPeers {
  /** Returns a fresh name: a client that creates a file of this name and content shows its user and group. */
  challenge(): string;
  /**
   * Returns the owner of the file, and removes it; each name holds once, for ten seconds. Errors: PermissionDenied with
   * the reason why the owner may not use the socket.
   */
  identify(challenge: string): Call<LocalPeer>;
}
