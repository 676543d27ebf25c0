/** Spans of a pod's phases. The calls to the runtime that a phase makes are their children. */
import type { Observable } from "rxjs";
import type { KubeletError } from "../core/errors.ts";
import type { SpanStart } from "../core/tracing/spanStart.ts";
import { traced } from "../operators/traced.ts";
import type { Span } from "../ports/tracing.ts";
import type { PodContext } from "./podContext.ts";
import { portsUnder } from "./portsUnder.ts";

/**
 * Runs a step of a pod as a span, with the context of the span; without tracing, and if `start` returns undefined, as it
 * is. The timeline of the pod names the trace if it is sampled.
 */
export function spanned<T>(
  context: PodContext,
  start: () => SpanStart | undefined,
  work: (under: PodContext, span: Span | undefined) => Observable<T>,
): Observable<T> {
  const { tracing } = context.ports;
  const begun = tracing && start();
  if (begun === undefined) return work(context, undefined);
  return traced(
    tracing,
    () => begun,
    (span) => {
      if (span?.context.isSampled === true) {
        context.memory.timeline.facts.next({ kind: "traced", traceId: span.context.traceId });
      }
      return work(contextUnder(context, span), span);
    },
  );
}

/** An image pull that pods share belongs to the span of the pod that asked first. */
function contextUnder(context: PodContext, span: Span | undefined): PodContext {
  if (span === undefined) return context;
  const { images } = context;
  return {
    ...context,
    ports: portsUnder(context.ports, span),
    images: {
      ...images,
      ensure: (request) => images.ensure({ ...request, parent: span.context }),
      look: (question) => images.look({ ...question, parent: span.context }),
    },
  };
}

/** Notes the failures of a step in its span, as upstream records the error that a sync returns. */
export function noteFailures(span: Span | undefined, errors: readonly KubeletError[]): void {
  if (span === undefined || errors.length === 0) return;
  for (const { code, message } of errors) {
    span.event("exception", { "exception.type": code, "exception.message": message });
  }
  span.fail(errors.map(({ message }) => message).join("; "));
}
