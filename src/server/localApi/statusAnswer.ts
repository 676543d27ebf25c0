/** Refusals as an API server answers them: Status objects. */
import type { Context } from "hono";
import type { ApiStatus } from "../../core/api/apiStatus.ts";
import { isKubeletError, toKubeletError } from "../../core/errors.ts";

const INTERNAL_ERROR = 500;

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  429: "TooManyRequests",
};

/** A Status of failure. */
export const failureStatus = (code: number, message: string): ApiStatus => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason: REASONS[code] ?? "InternalError",
  code,
});

/** The answer that carries a Status. */
export const statusAnswer = (context: Context, status: ApiStatus): Response =>
  context.body(JSON.stringify(status), (status.code ?? INTERNAL_ERROR) as 500, { "content-type": "application/json" });

/** The answer for a failure: the Status it was made from, or one that says what it says. */
export function failureAnswer(context: Context, thrown: unknown): Response {
  const cause = isKubeletError(thrown) ? (thrown.cause as ApiStatus | undefined) : undefined;
  const status = cause?.kind === "Status" ? cause : failureStatus(INTERNAL_ERROR, toKubeletError(thrown).message);
  return statusAnswer(context, status);
}
