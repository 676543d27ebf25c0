/** How the API server says no: its Status object, and the KubeletError it becomes. */
import type { V1Status } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";
import { type ErrorCode, type KubeletError, kubeletError } from "../errors.ts";

/** The answer of a failed request; also of some that succeeded. */
export type ApiStatus = Wire<V1Status>;

const MS_PER_SECOND = 1000;

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
 * A refusal as an error: `code` from the HTTP status, `reason` and text as the server gave them, the whole Status as
 * cause, and the pause it asked for.
 */
export function apiError(status: ApiStatus): KubeletError {
  const code = codeOf(status);
  const retryAfterSeconds = status.details?.retryAfterSeconds;
  return kubeletError(code, status.message ?? `the API server answered ${status.code ?? "without a code"}`, {
    reason: status.reason ?? code,
    cause: status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * MS_PER_SECOND }),
  });
}

/** 504 of a request at a version that the server asked has not reached yet; see client-go's isTooLargeResourceVersionError. */
export function isTooLargeResourceVersion({ cause }: KubeletError): boolean {
  const { details, message = "" } = (cause ?? {}) as ApiStatus;
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  return (
    causes.some(({ reason }) => reason === "ResourceVersionTooLarge") ||
    (typeof message === "string" && message.startsWith("Too large resource version"))
  );
}
