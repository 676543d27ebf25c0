/**
 * The one error type of the kubelet. `reason` is what the API shows (CamelCase), `code` is what code branches on;
 * nobody matches on error text.
 */
import { InvariantError, rethrowInvariant } from "./invariant.ts";

/** What kind of failure this is; the whole vocabulary on which code may branch. */
export type ErrorCode =
  | "Unavailable" // the other side is away: runtime down, connection refused
  | "DeadlineExceeded" // no answer in time; the effect may have happened
  | "Cancelled" // we gave up ourselves
  | "NotFound"
  | "AlreadyExists"
  | "Conflict" // the object changed since it was read, or is not the one that was meant
  | "Expired" // that version of the state is no longer known: start from a fresh list
  | "TooManyRequests" // the other side asks for a pause: see `retryAfterMs`
  | "Unimplemented" // the other side does not know this call
  | "InvalidArgument" // we, or the user, asked for something impossible
  | "ResourceExhausted"
  | "PermissionDenied"
  | "Backoff" // too early to try again
  | "Rejected" // policy says no: image pull policy, admission
  | "Io" // file system or network trouble on this node
  | "Unknown";

/** A failure as a value. */
export interface KubeletError {
  readonly code: ErrorCode;
  /** API-visible CamelCase reason, for example `CrashLoopBackOff`, `ErrImagePull`, `CreateContainerError`. */
  readonly reason: string;
  /** One sentence for people, naming the object and what went wrong. */
  readonly message: string;
  /** Whether the same step may succeed later without anyone changing its input. */
  readonly retryable: boolean;
  /** The pause the other side asked for, in milliseconds. */
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

/** True for values made by `kubeletError`. */
export function isKubeletError(value: unknown): value is KubeletError {
  return typeof value === "object" && value !== null && "code" in value && "reason" in value && "retryable" in value;
}

/**
 * Whatever was thrown, as a KubeletError: ours pass through, the rest become `Unknown`. A broken invariant is thrown
 * again, so that no `catchError` turns a bug into a value.
 */
export function toKubeletError(thrown: unknown): KubeletError {
  rethrowInvariant(thrown);
  if (isKubeletError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return kubeletError("Unknown", message, { cause: thrown });
}

/** What an error channel may carry: a KubeletError, or a broken invariant as it is. */
export const asFailure = (thrown: unknown): KubeletError | InvariantError =>
  thrown instanceof InvariantError ? thrown : toKubeletError(thrown);

/** The same failure under another API-visible reason. */
export const withReason = (error: KubeletError, reason: string): KubeletError => ({ ...error, reason });
