/** Error responses in the form of an API server: Status objects. */
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

/** Returns a Status of a failure. */
export const failureStatus = (code: number, message: string): ApiStatus => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason: REASONS[code] ?? "InternalError",
  code,
});

/** Returns a response with a Status as its body. */
export const statusAnswer = (context: Context, status: ApiStatus): Response =>
  context.body(JSON.stringify(status), (status.code ?? INTERNAL_ERROR) as 500, { "content-type": "application/json" });

/** Returns the response for a failure: its original Status, or a 500 Status with the error message. */
export function failureAnswer(context: Context, thrown: unknown): Response {
  const cause = isKubeletError(thrown) ? (thrown.cause as ApiStatus | undefined) : undefined;
  const status = cause?.kind === "Status" ? cause : failureStatus(INTERNAL_ERROR, toKubeletError(thrown).message);
  return statusAnswer(context, status);
}
