/** Spans of distributed traces. Calls are synchronous and never throw. Upstream: component-base/tracing. */
import type { Observable } from "rxjs";
import type { SpanContext } from "../core/tracing/spanContext.ts";
import type { SpanAttributes, SpanStart } from "../core/tracing/spanStart.ts";

/** A span under way. Everything but `context` is without effect once it has ended, and if its trace is not sampled. */
export interface Span {
  /** The parent of spans that this one causes. */
  readonly context: SpanContext;
  set(attributes: SpanAttributes): void;
  /** Adds an event at this time. */
  event(name: string, attributes: SpanAttributes): void;
  /** Marks the span as failed. */
  fail(message: string): void;
  end(): void;
}

/** Starts spans. The kubelet has no such port unless tracing is configured. */
export interface Tracing {
  /** Starts a span, which its caller ends. A span without a parent decides whether its trace is sampled. */
  start(given: SpanStart): Span;
}

/** Tracing with an exporter behind it. */
export interface SpanExport extends Tracing {
  /** Emits numbers of spans that were lost: too many waited, or the collector did not take them. */
  readonly dropped$: Observable<number>;
  /** Exports the spans that wait, as far as a bound allows, then completes. Never emits, never errors. */
  close(): Observable<never>;
}
