/** Work as a span of a trace. */
import { defer, finalize, type Observable, tap } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import type { SpanStart } from "../core/tracing/spanStart.ts";
import type { Span, Tracing } from "../ports/tracing.ts";

/**
 * Runs work as a span, from its subscription to its end. Without tracing it is the work itself, without a span.
 *
 *     work      --a--b--|      --a--#
 *     span      [-------]      [----] failed
 *
 * Cancels: the work; the span ends. Errors: pass on, after they are noted in the span. Bound: none of its own.
 */
export const traced = <T>(
  tracing: Tracing | undefined,
  start: () => SpanStart,
  work: (span: Span | undefined) => Observable<T>,
): Observable<T> =>
  tracing === undefined
    ? work(undefined)
    : defer(() => {
        const span = tracing.start(start());
        return work(span).pipe(
          tap({ error: (thrown: unknown) => span.fail(toKubeletError(thrown).message) }),
          finalize(() => span.end()),
        );
      });
