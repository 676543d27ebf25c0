/** Tokens that a kubelet keeps on disk for a boot without the API server. Synchronous; memory holds them too. */
import type { ServiceAccountToken, TokenWish } from "../core/token/serviceAccountToken.ts";

export interface KeptTokens {
  /** Keeps an issued token. */
  keep(wish: TokenWish, token: ServiceAccountToken): void;
  /**
   * Returns the kept token, which may have expired; undefined when there is none, or once the API server has answered
   * since the start.
   */
  find(wish: TokenWish): ServiceAccountToken | undefined;
}
