/**
 * Service account tokens bound to a pod: the request, the response, and when a token is renewed. Upstream:
 * pkg/kubelet/token/token_manager.go.
 */
import { goQuote } from "../container/goJson.ts";
import type { ApiSubresources } from "../api/apiResources.ts";
import { kubeletError } from "../errors.ts";
import { type EpochMs, epochMs } from "../ids.ts";
import { err, ok, type Result } from "../result.ts";
import { parseInstant } from "../time/civilTime.ts";

type TokenRequest = ApiSubresources["serviceaccounts/token"];

/** Parameters of a token; equal parameters share one token. */
export interface TokenWish {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Empty: the API server's default audience. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The pod that the token is bound to. */
  readonly pod: { readonly name: string; readonly uid: string };
}

/** An issued token. */
export interface ServiceAccountToken {
  readonly token: string;
  readonly expiresAt: EpochMs;
  /** The granted lifetime, which may differ from the requested one. */
  readonly lifeMs: number;
}

const MS_PER_SECOND = 1000;
/** Maximum time that a token is used, however long its lifetime. */
const LONGEST_USE_MS = 24 * 60 * 60_000;
const LONGEST_JITTER_MS = 10_000;
/** Fraction of the lifetime left when the token is renewed. */
const LEFT_SHARE = 0.2;

/** Returns the cache key of a token. */
export const tokenKey = ({ namespace, serviceAccount, audiences, expirationSeconds, pod }: TokenWish): string =>
  JSON.stringify([pod.uid, pod.name, namespace, serviceAccount, audiences, expirationSeconds]);

/** Returns the token's name in messages, which is upstream's cache key. */
export function tokenName({ namespace, serviceAccount, audiences, expirationSeconds, pod }: TokenWish): string {
  const list = audiences.length === 0 ? "(nil)" : `{${audiences.map(goQuote).join(", ")}}`;
  const to = `Kind:"Pod", APIVersion:"v1", Name:${goQuote(pod.name)}, UID:${goQuote(pod.uid)}`;
  const names = [goQuote(serviceAccount), goQuote(namespace), `[]string${list}`, expirationSeconds];
  return [...names, `v1.BoundObjectReference{${to}}`, '""'].join("/");
}

/** Builds the TokenRequest. */
export const tokenRequest = ({ audiences, expirationSeconds, pod }: TokenWish): TokenRequest => ({
  spec: {
    audiences,
    expirationSeconds,
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid },
  },
});

/** Reads the token of a response. Errors: Unknown when it has no token or no expiration time. */
export function issuedToken({ spec, status }: TokenRequest, wish: TokenWish): Result<ServiceAccountToken> {
  const expiresAt = parseInstant(status?.expirationTimestamp);
  const token = status?.token ?? "";
  if (token === "" || expiresAt === undefined) return err(kubeletError("Unknown", "the response has no token"));
  const seconds = spec?.expirationSeconds ?? wish.expirationSeconds;
  return ok({ token, expiresAt, lifeMs: seconds * MS_PER_SECOND });
}

/**
 * Returns whether the token must be renewed: after 80 % of its lifetime, after a day, or when the clock was set back to
 * before its issue. `draw` in [0, 1) renews it up to 10 s earlier.
 */
export function isDue({ expiresAt, lifeMs }: ServiceAccountToken, now: EpochMs, draw: number): boolean {
  const jitterMs = draw * LONGEST_JITTER_MS;
  const usedMs = now - (expiresAt - lifeMs);
  if (usedMs < 0) return true;
  return usedMs > LONGEST_USE_MS - jitterMs || expiresAt - now < lifeMs * LEFT_SHARE + jitterMs;
}

/** Returns the latest time of the renewal, whatever the draw. */
export const dueAt = ({ expiresAt, lifeMs }: ServiceAccountToken): EpochMs =>
  epochMs(Math.min(expiresAt - lifeMs + LONGEST_USE_MS, expiresAt - lifeMs * LEFT_SHARE) + 1);

/** Returns whether the token has expired. */
export const isExpired = ({ expiresAt }: ServiceAccountToken, now: EpochMs): boolean => now >= expiresAt;
