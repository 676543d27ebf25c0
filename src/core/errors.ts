/**
 * The only error type of the kubelet. `reason` is the API-visible CamelCase reason, `code` is for branching; no code
 * matches error text.
 */
import { InvariantError, rethrowInvariant } from "./invariant.ts";

/** The kind of failure; code branches on nothing else. */
export type ErrorCode =
  | "Unavailable" // the peer is unreachable: runtime down, connection refused
  | "DeadlineExceeded" // no answer in time; the operation may have taken effect
  | "Cancelled" // the kubelet cancelled the operation
  | "NotFound"
  | "AlreadyExists"
  | "Conflict" // the object changed since it was read, or is another one than expected
  | "Expired" // the requested version is no longer available: start from a fresh list
  | "TooManyRequests" // the peer asks for a pause: see `retryAfterMs`
  | "Unimplemented" // the peer does not implement this call
  | "InvalidArgument" // the kubelet or the user asked for something impossible
  | "ResourceExhausted"
  | "PermissionDenied"
  | "Backoff" // too early for a retry
  | "Rejected" // denied by policy: image pull policy, admission
  | "Io" // file system or network failure on this node
  | "Unknown";

/** A failure as a value. */
export interface KubeletError {
  readonly code: ErrorCode;
  /** API-visible CamelCase reason, for example `CrashLoopBackOff`, `ErrImagePull`, `CreateContainerError`. */
  readonly reason: string;
  /** A human-readable sentence that names the object and the failure. */
  readonly message: string;
  /** Whether the same operation may succeed later with unchanged input. */
  readonly retryable: boolean;
  /** The pause that the peer asked for, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

const RETRYABLE: Readonly<Record<ErrorCode, boolean>> = {
  Unavailable: true,
  DeadlineExceeded: true,
  Cancelled: true,
  NotFound: true,
  AlreadyExists: true,
  Conflict: true,
  Expired: true,
  TooManyRequests: true,
  Unimplemented: false,
  InvalidArgument: false,
  ResourceExhausted: true,
  PermissionDenied: false,
  Backoff: true,
  Rejected: false,
  Io: true,
  Unknown: true,
};

/** Builds a KubeletError; `reason` defaults to the code. */
export function kubeletError(
  code: ErrorCode,
  message: string,
  more: { readonly reason?: string; readonly cause?: unknown; readonly retryAfterMs?: number } = {},
): KubeletError {
  return {
    code,
    reason: more.reason ?? code,
    message,
    retryable: RETRYABLE[code],
    ...(more.retryAfterMs === undefined ? {} : { retryAfterMs: more.retryAfterMs }),
    ...(more.cause === undefined ? {} : { cause: more.cause }),
  };
}

/** Returns true for values made by `kubeletError`. */
export function isKubeletError(value: unknown): value is KubeletError {
  return typeof value === "object" && value !== null && "code" in value && "reason" in value && "retryable" in value;
}

/**
 * Converts a thrown value to a KubeletError: KubeletErrors pass through, others become `Unknown`. Rethrows a broken
 * invariant, so that no `catchError` turns a bug into a value.
 */
export function toKubeletError(thrown: unknown): KubeletError {
  rethrowInvariant(thrown);
  if (isKubeletError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return kubeletError("Unknown", message, { cause: thrown });
}

/** Converts a thrown value for an error channel: a broken invariant is kept, all else becomes a KubeletError. */
export const asFailure = (thrown: unknown): KubeletError | InvariantError =>
  thrown instanceof InvariantError ? thrown : toKubeletError(thrown);

/** Returns the same failure with another API-visible reason. */
export const withReason = (error: KubeletError, reason: string): KubeletError => ({ ...error, reason });
