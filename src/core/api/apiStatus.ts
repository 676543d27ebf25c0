/** The API server's Status object, and the KubeletError made from it. */
import type { V1Status } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";
import { type ErrorCode, type KubeletError, kubeletError } from "../errors.ts";

/** The response to a failed request, and to some successful ones. */
export type ApiStatus = Wire<V1Status>;

const MS_PER_SECOND = 1000;
/** Upper bound on a pause that the server, or a proxy before it, asks for. */
const LONGEST_RETRY_AFTER_MS = 60_000;

const CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [400, "InvalidArgument"],
  [401, "PermissionDenied"],
  [403, "PermissionDenied"],
  [404, "NotFound"],
  [405, "Unimplemented"],
  [406, "InvalidArgument"],
  [409, "Conflict"],
  [410, "Expired"],
  [413, "InvalidArgument"],
  [415, "InvalidArgument"],
  [422, "InvalidArgument"],
  [429, "TooManyRequests"],
  [503, "Unavailable"],
  [504, "DeadlineExceeded"],
]);

function codeOf({ code = 0, reason }: ApiStatus): ErrorCode {
  if (reason === "AlreadyExists") return "AlreadyExists";
  return CODES.get(code) ?? "Unknown";
}

/**
 * Converts a Status to an error: `code` from the HTTP status, `reason` and message from the server, the Status as
 * cause, and the pause that the server asked for, at most `LONGEST_RETRY_AFTER_MS`.
 */
export function apiError(status: ApiStatus): KubeletError {
  const code = codeOf(status);
  const retryAfterMs = Math.min(Number(status.details?.retryAfterSeconds) * MS_PER_SECOND, LONGEST_RETRY_AFTER_MS);
  return kubeletError(code, status.message ?? `the API server answered ${status.code ?? "without a code"}`, {
    reason: status.reason ?? code,
    cause: status,
    ...(retryAfterMs >= 0 ? { retryAfterMs } : {}),
  });
}

/**
 * Returns whether this is a 504 for a version that the server has not reached yet. Upstream: client-go's
 * isTooLargeResourceVersionError.
 */
export function isTooLargeResourceVersion({ cause }: KubeletError): boolean {
  const { details, message = "" } = (cause ?? {}) as ApiStatus;
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  return (
    causes.some(({ reason }) => reason === "ResourceVersionTooLarge") ||
    (typeof message === "string" && message.startsWith("Too large resource version"))
  );
}
