/**
 * Streams that were asked for and not yet come for, by an unguessable token that serves once. Bound: 1000 at a time, each
 * for a minute. Counterpart: requestCache of cri-streaming.
 */
import { randomBytes } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { RpcFault } from "./rpcFault.ts";

const LIFE_MS = 60_000;
const MAX_WAITING = 1000;
const TOKEN_BYTES = 16;

/** See the file header. */
export interface StreamTokens<T> {
  /** A new token. Throws RESOURCE_EXHAUSTED when too many wait. */
  issue(request: T): string;
  /** What the token stands for, once and in time. */
  take(token: string): T | undefined;
}

/** None yet; `nowMs` never goes back. */
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
