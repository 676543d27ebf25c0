/**
 * A TokenReview or SubjectAccessReview with metrics and retries of transient failures.
 * Upstream: the webhook clients of apiserver and DefaultAuthWebhookRetryBackoff.
 */
import { defer, type Observable, retry, tap, throwError, timer } from "rxjs";
import { answeredStatus, isPassingFailure } from "../../core/auth/reviewFailure.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/telemetry.ts";

export interface DelegatedReviewOptions {
  /** "authn" reviews a token, "authz" an access. */
  readonly kind: "authn" | "authz";
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Full names, because the generated metric tables in docs/ look for them in the source. */
const METRICS = {
  authn: {
    total: "apiserver_delegated_authn_request_total",
    duration: "apiserver_delegated_authn_request_duration_seconds",
  },
  authz: {
    total: "apiserver_delegated_authz_request_total",
    duration: "apiserver_delegated_authz_request_duration_seconds",
  },
} as const;

/** Deadline for a review including all retries, in milliseconds. */
export const REVIEW_DEADLINE_MS = 10_000;

const FIRST_WAIT_MS = 500;
const GROWTH = 1.5;
const MAX_RETRIES = 4;
const CREATED = "201";

/**
 * Calls `ask` up to five times within REVIEW_DEADLINE_MS, with delays of 0.5 s, 0.75 s, 1.1 s and 1.7 s. Differs from
 * upstream: no jitter, because only one node asks.
 */
export function delegatedReview<T>(ask: () => Call<T>, { kind, clock, metrics }: DelegatedReviewOptions): Call<T> {
  return defer((): Observable<T> => {
    const startedAt = clock.monotonicMs();
    const count = (code: string): void => {
      const seconds = (clock.monotonicMs() - startedAt) / 1_000;
      metrics.count(METRICS[kind].total, { code });
      metrics.observe(METRICS[kind].duration, seconds, { code });
    };
    return ask().pipe(
      tap({
        next: () => count(CREATED),
        error: (thrown: unknown) => count(String(answeredStatus(toKubeletError(thrown)) ?? "<error>")),
      }),
    );
  }).pipe(
    retry({
      delay: (thrown: unknown, count) =>
        count <= MAX_RETRIES && isPassingFailure(toKubeletError(thrown))
          ? timer(Math.round(FIRST_WAIT_MS * GROWTH ** (count - 1)), clock.scheduler)
          : throwError(() => thrown),
    }),
    deadline(REVIEW_DEADLINE_MS, clock, () =>
      kubeletError("DeadlineExceeded", `no ${kind} review within ${REVIEW_DEADLINE_MS} ms`),
    ),
  );
}
