/**
 * Pending stream requests by unguessable single-use token. Bound: 1000 at a time, one minute each.
 * Upstream: requestCache of cri-streaming.
 */
import { randomBytes } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { RpcFault } from "../grpcServer/rpcFault.ts";

const LIFE_MS = 60_000;
const MAX_WAITING = 1000;
const TOKEN_BYTES = 16;

/** The pending stream requests. See the file header. */
export interface StreamTokens<T> {
  /** Returns a new token. Throws RESOURCE_EXHAUSTED if too many are pending. */
  issue(request: T): string;
  /** Returns the request of a token and invalidates the token; undefined if it was used or has expired. */
  take(token: string): T | undefined;
}

/** Creates an empty store; `nowMs` must be monotonic. */
export function createStreamTokens<T>(nowMs: () => number): StreamTokens<T> {
  const waiting = new Map<string, { readonly request: T; readonly expiresAt: number }>();
  const forgetExpired = (): void => {
    for (const [token, { expiresAt }] of waiting) {
      if (expiresAt > nowMs()) return;
      waiting.delete(token);
    }
  };
  return {
    issue: (request) => {
      forgetExpired();
      if (waiting.size >= MAX_WAITING) {
        throw new RpcFault(status.RESOURCE_EXHAUSTED, "maximum number of in-flight requests exceeded");
      }
      const token = randomBytes(TOKEN_BYTES).toString("base64url");
      waiting.set(token, { request, expiresAt: nowMs() + LIFE_MS });
      return token;
    },
    take: (token) => {
      forgetExpired();
      const found = waiting.get(token);
      waiting.delete(token);
      return found?.request;
    },
  };
}
