/**
 * The span of one gRPC call, and the metadata that names it to the server. Bounds: two events per message. Upstream: the
 * client handler of otelgrpc.
 */
import { Metadata } from "@grpc/grpc-js";
import type { ErrorCode, KubeletError } from "../core/errors.ts";
import { statusOfCall } from "../core/grpcStatus.ts";
import { type SpanContext, traceHeaders } from "../core/tracing/spanContext.ts";
import { CALL_SCOPE } from "../core/tracing/spanStart.ts";
import type { Tracing } from "../ports/tracing.ts";

/** A call under way. */
export interface CallSpan {
  readonly metadata: Metadata;
  sent(message: Uint8Array): void;
  received(message: Uint8Array): void;
  /** Ends the span; `error` is absent on success and after a cancellation. */
  end(code: "Ok" | ErrorCode, error?: KubeletError): void;
}

const UNTRACED: CallSpan = {
  metadata: new Metadata(),
  sent: () => undefined,
  received: () => undefined,
  end: () => undefined,
};

/** Starts the span of a call to a method of a service. Without tracing all calls share one value without effect. */
export function callSpan(
  { tracing }: { readonly tracing?: Tracing | undefined },
  service: string,
  method: string,
  parent: SpanContext | undefined,
): CallSpan {
  if (tracing === undefined) return UNTRACED;
  const span = tracing.start({
    name: `${service}/${method}`,
    scope: CALL_SCOPE,
    kind: "client",
    parent,
    attributes: { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method },
  });
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(traceHeaders(span.context))) metadata.set(name, value);
  const counts = { SENT: 0, RECEIVED: 0 };
  const message = (type: keyof typeof counts, { length }: Uint8Array): void => {
    counts[type] += 1;
    const size = { "rpc.message.uncompressed_size": length };
    span.event("message", { "rpc.message.type": type, "rpc.message.id": counts[type], ...size });
  };
  return {
    metadata,
    sent: (bytes) => message("SENT", bytes),
    received: (bytes) => message("RECEIVED", bytes),
    end: (code, error) => {
      span.set({ "rpc.grpc.status_code": statusOfCall(code, error) });
      if (code !== "Ok") span.fail(error?.message ?? "the call was cancelled");
      span.end();
    },
  };
}
