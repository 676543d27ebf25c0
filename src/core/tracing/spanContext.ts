/** The identity of a span, and its form in headers and gRPC metadata. W3C Trace Context, as upstream's propagator. */

/** The identity of a span, which its children in this and other processes name as their parent. */
export interface SpanContext {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits in lower case, not all zero. */
  readonly spanId: string;
  /** Whether the spans of the trace are exported. Decided once, when the trace begins. */
  readonly isSampled: boolean;
  /** State of tracing systems, passed on as it came. */
  readonly traceState?: string;
}

/** Length of a `traceparent` of version 00; later versions may append fields. */
const TRACEPARENT_LENGTH = 55;
/** The length that each system must pass on; a longer `tracestate` is dropped. */
const MAX_TRACE_STATE = 512;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const ZEROS = /^0+$/;

/** Returns the headers that name the span as the parent of a span in another process. */
export const traceHeaders = ({
  traceId,
  spanId,
  isSampled,
  traceState,
}: SpanContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`,
  ...(traceState === undefined ? {} : { tracestate: traceState }),
});

/** Reads the headers of a request; undefined unless they name a span. Never throws. */
export function spanContextIn(header: (name: string) => string | undefined): SpanContext | undefined {
  const text = header("traceparent") ?? "";
  const [, version, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(text.slice(0, TRACEPARENT_LENGTH)) ?? [];
  if (version === undefined || version === "ff" || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  const more = text.slice(TRACEPARENT_LENGTH);
  if (more !== "" && (version === "00" || !more.startsWith("-"))) return undefined;
  const traceState = header("tracestate") ?? "";
  return {
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    ...(traceState === "" || traceState.length > MAX_TRACE_STATE ? {} : { traceState }),
  };
}
