/** Whether a user may do something with this node. Counterpart: the delegating authorizer of cmd/kubelet/app/auth.go. */
import { map, of } from "rxjs";
import { type AccessQuestion, accessReview, isAllowed } from "../../core/auth/accessReview.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Shedding } from "../../ports/shedding.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import { answerCache } from "./answerCache.ts";
import { delegatedReview, REVIEW_DEADLINE_MS } from "./delegatedReview.ts";

/** Emits the answer. Errors: the API server could not be asked. */
export type Authorize = (question: AccessQuestion) => Call<boolean>;

/** The mode AlwaysAllow. */
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

/** Upstream's bound. */
const MAX_ANSWERS = 8_192;

/** Requests of one user, and of all, that wait for an answer at a time. */
const MAX_WAITING = { max: 1_024, maxOfClient: 64 };

/** The mode Webhook: the API server decides. */
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
