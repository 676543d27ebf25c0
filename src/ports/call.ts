/** The shape of every request to the world outside. */
import type { Observable } from "rxjs";

/**
 * Cold: one subscription is one request. Emits at most one value, then completes; a failure is a KubeletError on the
 * error channel, made into a Result by the caller's flattening. Unsubscribing cancels the request.
 */
export type Call<T> = Observable<T>;

/** Bounds of one call. */
export interface CallOptions {
  /** Upper bound of this call in milliseconds; the adapter has a default, so no call is without a deadline. */
  readonly deadlineMs?: number;
}
