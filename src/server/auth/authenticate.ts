/**
 * Identifies the sender of a request by client certificate or bearer token, or as anonymous. Invalid credentials are
 * rejected even if anonymous requests are allowed.
 * Upstream: the delegating authenticator in cmd/kubelet/app/auth.go.
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

/** Credentials presented with a request. */
export interface Credentials {
  readonly headers: TokenHeaders;
  /** "unknown": no trusted authority signed the certificate. */
  readonly certificate: CertificateSubject | "unknown" | undefined;
  /** Source of the request; see `peerGroup`. */
  readonly peer: string;
}

export interface AuthenticateOptions {
  readonly anonymous: boolean;
  /** API server that reviews tokens. Absent: bearer tokens are ignored. */
  readonly reviewer: { readonly api: ApiServer; readonly cacheTtlMs: number } | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly shedding?: Shedding | undefined;
}

/** Maximum number of cached token reviews. */
const MAX_TOKENS = 4_096;
/** A longer token, or one with other than visible ASCII characters, is rejected without a review. */
const MAX_TOKEN_LENGTH = 16_384;
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Maximum number of requests that wait for a review: in total, and per peer. At the default rate of 50 reviews per
 * second, one peer delays another by at most two thirds of a second.
 */
const MAX_WAITING = { max: 1_024, maxOfClient: 32 };

interface ShownToken {
  readonly token: string;
  readonly peer: string;
}

/** Emits the user, or undefined if the request must be rejected. Errors: the API server cannot be reached. */
export type Authenticate = (credentials: Credentials) => Call<RequestUser | undefined>;

/** Creates the authenticator. */
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
