/**
 * Who sends a request: the subject of a client certificate, the owner of a bearer token, or nobody. Counterpart: the
 * delegating authenticator of cmd/kubelet/app/auth.go. Credentials that are no good are refused, though anonymous
 * requests were let in.
 */
import { createHash } from "node:crypto";
import { defer, map, of } from "rxjs";
import { bearerToken, type TokenHeaders } from "../../core/auth/bearerToken.ts";
import {
  ANONYMOUS,
  type CertificateSubject,
  certificateUser,
  type RequestUser,
  reviewedUser,
} from "../../core/auth/requestUser.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Shedding } from "../../ports/shedding.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import { answerCache } from "./answerCache.ts";
import { delegatedReview, REVIEW_DEADLINE_MS } from "./delegatedReview.ts";
import { tokenCacheMetrics } from "./tokenCacheMetrics.ts";

/** What a request brings to prove who sent it. */
export interface Credentials {
  readonly headers: TokenHeaders;
  /** "unknown": no authority of ours has signed it. */
  readonly certificate: CertificateSubject | "unknown" | undefined;
  /** Where it comes from; see `peerGroup`. */
  readonly peer: string;
}

export interface AuthenticateOptions {
  readonly anonymous: boolean;
  /** Whom tokens are shown to; absent: tokens count for nothing. */
  readonly reviewer: { readonly api: ApiServer; readonly cacheTtlMs: number } | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly shedding?: Shedding | undefined;
}

/** Tokens remembered at most. */
const MAX_TOKENS = 4_096;
/** What is longer, or not of visible characters, is no token of a cluster, and not worth a request. */
const MAX_TOKEN_LENGTH = 16_384;
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Requests of one peer, and of all, that wait for an answer at a time: at the default rate of 50 a second no peer delays
 * another by more than two thirds of a second.
 */
const MAX_WAITING = { max: 1_024, maxOfClient: 32 };

interface ShownToken {
  readonly token: string;
  readonly peer: string;
}

/** Emits the user, or undefined for somebody to be turned away. Errors: the API server could not be asked. */
export type Authenticate = (credentials: Credentials) => Call<RequestUser | undefined>;

/** Makes it. */
export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { anonymous, reviewer } = options;
  const reviewed = reviewer && tokenReviews(reviewer, options);
  return ({ headers, certificate, peer }) =>
    defer(() => {
      const user = typeof certificate === "object" ? certificateUser(certificate) : undefined;
      if (user !== undefined) return of(user);
      const token = reviewed && bearerToken(headers);
      if (token !== undefined && reviewed !== undefined) return reviewed({ token, peer });
      return of(anonymous && certificate === undefined ? ANONYMOUS : undefined);
    });
}

const tokenReviews = (
  { api, cacheTtlMs }: NonNullable<AuthenticateOptions["reviewer"]>,
  { clock, metrics, shedding }: AuthenticateOptions,
) => {
  const review = answerCache<ShownToken, RequestUser | undefined>({
    clock,
    maxEntries: MAX_TOKENS,
    clientOf: ({ peer }) => peer,
    waiting: MAX_WAITING,
    keyOf: ({ token }) => createHash("sha256").update(token).digest("base64"),
    ask: ({ token }) =>
      delegatedReview(() => api.create("tokenreviews", { spec: { token } }, { deadlineMs: REVIEW_DEADLINE_MS }), {
        kind: "authn",
        clock,
        metrics,
      }).pipe(map(({ status }) => reviewedUser(status))),
    observer: tokenCacheMetrics(metrics, clock),
    name: "token reviews",
    shedding,
    isRefusal: (user) => user === undefined,
    lifeMs: () => cacheTtlMs,
  });
  return (shown: ShownToken): Call<RequestUser | undefined> => {
    const { token } = shown;
    return token.length > MAX_TOKEN_LENGTH || !VISIBLE.test(token) ? of(undefined) : review(shown);
  };
};
