/** The shape of every request to the outside world. */
import type { Observable } from "rxjs";
import type { SpanContext } from "../core/tracing/spanContext.ts";

/**
 * Cold: one subscription is one request. Emits at most one value, then completes. A failure is a KubeletError on the
 * error channel; the caller turns it into a Result when it flattens the call. Unsubscribing cancels the request.
 */
export type Call<T> = Observable<T>;

/** Bounds of one call, and the work it belongs to. */
export interface CallOptions {
  /** Deadline of this call in milliseconds. The adapter has a default, so every call has a deadline. */
  readonly deadlineMs?: number;
  /** The span that makes the call. Absent: the call begins a trace. */
  readonly parent?: SpanContext | undefined;
}
