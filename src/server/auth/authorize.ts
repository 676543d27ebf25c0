/**
 * Decides whether a user may access this node.
 * Upstream: the delegating authorizer in cmd/kubelet/app/auth.go.
 */
import { map, of } from "rxjs";
import { type AccessQuestion, accessReview, isAllowed } from "../../core/auth/accessReview.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Shedding } from "../../ports/shedding.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import { answerCache } from "./answerCache.ts";
import { delegatedReview, REVIEW_DEADLINE_MS } from "./delegatedReview.ts";

/** Emits whether the access is allowed. Errors: the API server cannot be reached. */
export type Authorize = (question: AccessQuestion) => Call<boolean>;

/** Authorization mode AlwaysAllow. */
export const ALWAYS_ALLOW: Authorize = () => of(true);

export interface WebhookOptions {
  readonly api: ApiServer;
  readonly nodeName: string;
  readonly allowedTtlMs: number;
  readonly deniedTtlMs: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly shedding?: Shedding | undefined;
}

/** Maximum number of cached decisions, as in upstream. */
const MAX_ANSWERS = 8_192;

/** Maximum number of requests that wait for a decision: in total, and per user. */
const MAX_WAITING = { max: 1_024, maxOfClient: 64 };

/** Authorization mode Webhook: a SubjectAccessReview of the API server decides. */
export const createWebhookAuthorize = ({
  api,
  nodeName,
  allowedTtlMs,
  deniedTtlMs,
  clock,
  metrics,
  shedding,
}: WebhookOptions): Authorize =>
  answerCache({
    clock,
    maxEntries: MAX_ANSWERS,
    keyOf: (question) => JSON.stringify(accessReview(question, nodeName)),
    ask: (question) =>
      delegatedReview(
        () => api.create("subjectaccessreviews", accessReview(question, nodeName), { deadlineMs: REVIEW_DEADLINE_MS }),
        { kind: "authz", clock, metrics },
      ).pipe(map(({ status }) => isAllowed(status))),
    name: "access reviews",
    shedding,
    isRefusal: (allowed) => !allowed,
    clientOf: ({ user }) => user.name,
    waiting: MAX_WAITING,
    lifeMs: (allowed) => (allowed ? allowedTtlMs : deniedTtlMs),
  });
