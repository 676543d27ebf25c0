/**
 * Tokens of service accounts, bound to a pod: what is asked of the server, what comes back, and until when it is good.
 * Counterpart: pkg/kubelet/token/token_manager.go.
 */
import { goQuote } from "../container/goJson.ts";
import type { ApiSubresources } from "../api/apiResources.ts";
import { kubeletError } from "../errors.ts";
import { type EpochMs, epochMs } from "../ids.ts";
import { err, ok, type Result } from "../result.ts";
import { parseInstant } from "../telemetry/civilTime.ts";

type TokenRequest = ApiSubresources["serviceaccounts/token"];

/** Which token; two equal ones are one. */
export interface TokenWish {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Empty: the API server's own. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** What it ends with. */
  readonly pod: { readonly name: string; readonly uid: string };
}

/** A token as issued. */
export interface ServiceAccountToken {
  readonly token: string;
  readonly expiresAt: EpochMs;
  /** As granted, which may be other than asked for. */
  readonly lifeMs: number;
}

const MS_PER_SECOND = 1000;
/** No token is used for longer, however long it lives. */
const LONGEST_USE_MS = 24 * 60 * 60_000;
const LONGEST_JITTER_MS = 10_000;
/** What is left of a life when it is time for another token. */
const LEFT_SHARE = 0.2;

/** Names the token of a wish among all. */
export const tokenKey = ({ namespace, serviceAccount, audiences, expirationSeconds, pod }: TokenWish): string =>
  JSON.stringify([pod.uid, pod.name, namespace, serviceAccount, audiences, expirationSeconds]);

/** The token in messages, as upstream names it in its cache. */
export function tokenName({ namespace, serviceAccount, audiences, expirationSeconds, pod }: TokenWish): string {
  const whom = audiences.length === 0 ? "(nil)" : `{${audiences.map(goQuote).join(", ")}}`;
  const to = `Kind:"Pod", APIVersion:"v1", Name:${goQuote(pod.name)}, UID:${goQuote(pod.uid)}`;
  const names = [goQuote(serviceAccount), goQuote(namespace), `[]string${whom}`, expirationSeconds];
  return [...names, `v1.BoundObjectReference{${to}}`, '""'].join("/");
}

/** The request for it. */
export const tokenRequest = ({ audiences, expirationSeconds, pod }: TokenWish): TokenRequest => ({
  spec: {
    audiences,
    expirationSeconds,
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid },
  },
});

/** The token of an answer. Error: Unknown when there is none in it, or no instant at which it expires. */
export function issuedToken({ spec, status }: TokenRequest, wish: TokenWish): Result<ServiceAccountToken> {
  const expiresAt = parseInstant(status?.expirationTimestamp);
  const token = status?.token ?? "";
  if (token === "" || expiresAt === undefined) return err(kubeletError("Unknown", "the answer has no token"));
  const seconds = spec?.expirationSeconds ?? wish.expirationSeconds;
  return ok({ token, expiresAt, lifeMs: seconds * MS_PER_SECOND });
}

/**
 * Whether another token is due: after 80 % of its life, or a day, or where the clock was set back to before it was issued.
 * `draw`, in [0, 1), brings that up to 10 s forward.
 */
export function isDue({ expiresAt, lifeMs }: ServiceAccountToken, now: EpochMs, draw: number): boolean {
  const jitterMs = draw * LONGEST_JITTER_MS;
  const usedMs = now - (expiresAt - lifeMs);
  if (usedMs < 0) return true;
  return usedMs > LONGEST_USE_MS - jitterMs || expiresAt - now < lifeMs * LEFT_SHARE + jitterMs;
}

/** When another token is due at the latest, whatever is drawn. */
export const dueAt = ({ expiresAt, lifeMs }: ServiceAccountToken): EpochMs =>
  epochMs(Math.min(expiresAt - lifeMs + LONGEST_USE_MS, expiresAt - lifeMs * LEFT_SHARE) + 1);

/** Whether nobody takes it any more. */
export const isExpired = ({ expiresAt }: ServiceAccountToken, now: EpochMs): boolean => now >= expiresAt;
