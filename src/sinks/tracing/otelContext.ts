/** Identities of spans in the form of the SDK, and back. */
import { type SpanContext as OtelSpanContext, TraceFlags, type TraceState } from "@opentelemetry/api";
import type { SpanContext } from "../../core/tracing/spanContext.ts";

/** Returns the identity of a parent for the SDK. */
export const toOtel = ({ traceId, spanId, isSampled, traceState }: SpanContext): OtelSpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
  ...(traceState === undefined ? {} : { traceState: stateOf(traceState) }),
});

/** Returns the identity of a span of the SDK. */
export const fromOtel = ({ traceId, spanId, traceFlags, traceState }: OtelSpanContext): SpanContext => ({
  traceId,
  spanId,
  isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
  ...(traceState === undefined ? {} : { traceState: traceState.serialize() }),
});

/** A state that is only passed on: nothing in this process reads or changes its members. */
function stateOf(text: string): TraceState {
  const state: TraceState = {
    get: () => undefined,
    set: () => state,
    unset: () => state,
    serialize: () => text,
  };
  return state;
}
