/**
 * The exporter of spans over gRPC, which tells of each batch and logs one line when the collector goes away, and one when
 * it is back. Bound: CALL_MS for a batch with its retries.
 */
import { credentials } from "@grpc/grpc-js";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { collectorTarget } from "../../core/tracing/collectorTarget.ts";
import type { Logger } from "../../ports/telemetry.ts";

/** Upstream's exporter has the same limit. */
const CALL_MS = 10_000;
/** The code of a result of the SDK; its constant is in a package that nothing else needs. */
const SUCCESS = 0;

export interface SpanExporterOptions {
  readonly endpoint: string | undefined;
  readonly log: Logger;
  /** Called with the number of spans of each batch when it leaves the queue. */
  readonly onTaken: (count: number) => void;
  /** Called with the number of spans of each batch that the collector did not take. */
  readonly onLost: (count: number) => void;
}

/** Creates the exporter; connects with the first batch. Throws a KubeletError for an endpoint that is no address. */
export function createSpanExporter({ endpoint, log, onTaken, onLost }: SpanExporterOptions): SpanExporter {
  const exporter = openExporter(endpoint);
  let isAway = false;
  const note = (error: Error | undefined): void => {
    if ((error !== undefined) === isAway) return;
    isAway = error !== undefined;
    const collector = endpoint ?? "localhost:4317";
    if (isAway) log.warn("The collector takes no spans; they are dropped until it is back", { collector, error });
    else log.info("The collector takes spans again", { collector });
  };
  return {
    export: (spans, done) => {
      onTaken(spans.length);
      exporter.export(spans, (result) => {
        const isTaken = result.code === SUCCESS;
        if (!isTaken) onLost(spans.length);
        note(isTaken ? undefined : (result.error ?? new Error("the export failed")));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

function openExporter(endpoint: string | undefined): OTLPTraceExporter {
  const target = collectorTarget(endpoint);
  // A scheme that is not HTTP's keeps port 80; an authority makes the socket's path what follows it.
  const url = "host" in target ? `grpc://${target.host}` : `unix://local/${target.socket}`;
  try {
    return new OTLPTraceExporter({ url, credentials: credentials.createInsecure(), timeoutMillis: CALL_MS });
  } catch (thrown) {
    const { message } = toKubeletError(thrown);
    throw kubeletError("InvalidArgument", `tracing.endpoint ${JSON.stringify(endpoint)}: ${message}`);
  }
}
