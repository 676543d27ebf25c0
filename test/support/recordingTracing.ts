/** A tracing port that keeps its spans, with identities in the order of their starts. */
import { type SpanContext, traceHeaders } from "../../src/core/tracing/spanContext.ts";
import type { SpanAttributes, SpanStart } from "../../src/core/tracing/spanStart.ts";
import type { CallOptions } from "../../src/ports/call.ts";
import type { KubeletPorts } from "../../src/ports/kubeletPorts.ts";
import type { Tracing } from "../../src/ports/tracing.ts";

/** A span, as far as it has got. */
export interface RecordedSpan extends SpanStart {
  readonly context: SpanContext;
  readonly attributes: SpanAttributes;
  readonly events: readonly (readonly [name: string, attributes: SpanAttributes])[];
  readonly failure: string | undefined;
  /** How often it was ended. */
  readonly ends: number;
}

/** Starts spans whose traces are sampled as `isSampled` says, unless they have a parent. */
export function recordingTracing(isSampled = true): Tracing & { readonly spans: readonly RecordedSpan[] } {
  type Open = { -readonly [Key in keyof RecordedSpan]: RecordedSpan[Key] };
  const spans: Open[] = [];
  return {
    spans,
    start: (given) => {
      const number = (spans.length + 1).toString(16);
      const context = {
        traceId: given.parent?.traceId ?? number.padStart(32, "0"),
        spanId: number.padStart(16, "0"),
        isSampled: given.parent?.isSampled ?? isSampled,
      };
      const span: Open = {
        ...given,
        context,
        attributes: given.attributes ?? {},
        events: [],
        failure: undefined,
        ends: 0,
      };
      spans.push(span);
      return {
        context,
        set: (more) => void (span.attributes = { ...span.attributes, ...more }),
        event: (name, attributes) => void (span.events = [...span.events, [name, attributes]]),
        fail: (message) => void (span.failure = message),
        end: () => void (span.ends += 1),
      };
    },
  };
}

/** Lines of spans in the order of their starts, each below its parent: its name, and `!` if it failed. */
export function spanLines(spans: readonly RecordedSpan[]): readonly string[] {
  const depthOf = ({ parent }: RecordedSpan): number => {
    const above = spans.find(({ context }) => context.spanId === parent?.spanId);
    return above === undefined ? 0 : depthOf(above) + 1;
  };
  return spans.map((span) => `${"  ".repeat(depthOf(span))}${span.name}${span.failure === undefined ? "" : " !"}`);
}

type AnyService = Readonly<Record<string, (request: unknown, options?: CallOptions) => unknown>>;

/** The ports with spans for calls to the runtime, as its client makes them. */
export function tracedPorts(ports: KubeletPorts, tracing: Tracing): KubeletPorts {
  const withSpans = <Service extends object>(service: Service): Service =>
    new Proxy(service, {
      get: (target, name) => {
        const call = (target as unknown as AnyService)[String(name)];
        return (request: unknown, options?: CallOptions) => {
          tracing.start({ name: String(name), scope: "cri", kind: "client", parent: options?.parent }).end();
          return call?.call(target, request, options);
        };
      },
    });
  return { ...ports, tracing, runtime: withSpans(ports.runtime), images: withSpans(ports.images) };
}

/** Headers of a request of a span, in lower case as servers see them. */
export const headersOf = (context: SpanContext): ((name: string) => string | undefined) => {
  const headers: Readonly<Record<string, string | undefined>> = traceHeaders(context);
  return (name) => headers[name];
};
