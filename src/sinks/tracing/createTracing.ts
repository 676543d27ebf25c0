/**
 * Tracing through the SDK of OpenTelemetry: the only module that loads it, and loaded only when tracing is configured.
 * Owns the spans that wait and the connection to the collector. Bounds: MAX_WAITING spans, batches of MAX_BATCH,
 * EXPORT_MS for a batch with its retries, CLOSE_MS for the last one. A collector that is away costs spans and one log
 * line. Upstream: NewProvider in component-base/tracing, with the bounds of its SDK.
 */
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { catchError, EMPTY, ignoreElements, Subject } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { SpanAttributes, SpanStart } from "../../core/tracing/spanStart.ts";
import { deadline } from "../../operators/deadline.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { SpanExport } from "../../ports/tracing.ts";
import { fromOtel, toOtel } from "./otelContext.ts";
import { createSpanExporter } from "./spanExporter.ts";

/** Bounds of upstream's SDK. */
const MAX_WAITING = 2_048;
const MAX_BATCH = 512;
const BATCH_DELAY_MS = 5_000;
const EXPORT_MS = 30_000;
/** Longest delay of the end of the process. */
const CLOSE_MS = 2_000;
/** Longest attribute, because texts of errors come from others. */
const MAX_ATTRIBUTE = 4_096;
const MILLION = 1_000_000;

export interface TracingOptions {
  /** `tracing.endpoint` of the configuration. */
  readonly endpoint: string | undefined;
  /** `tracing.samplingRatePerMillion` of the configuration. */
  readonly samplingRatePerMillion: number | undefined;
  readonly hostName: string;
  readonly log: Logger;
  /** Must run in real time. */
  readonly clock: Clock;
  /** Longest time that a span waits for its batch; default BATCH_DELAY_MS. */
  readonly batchDelayMs?: number;
}

/** Creates the export; connects with the first batch. Throws a KubeletError for an endpoint that is no address. */
export function createTracing(options: TracingOptions): SpanExport {
  const { samplingRatePerMillion: rate = 0, hostName, log, clock } = options;
  const dropped$ = new Subject<number>();
  const drop = (count: number): void => dropped$.next(count);
  let waiting = 0;
  const exporter = createSpanExporter({
    ...options,
    onTaken: (count) => (waiting -= count),
    onLost: drop,
  });
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: MAX_BATCH,
    scheduledDelayMillis: options.batchDelayMs ?? BATCH_DELAY_MS,
    exportTimeoutMillis: EXPORT_MS,
  });
  /** The SDK drops spans silently when too many wait: they are dropped here, and counted. */
  const bounded: SpanProcessor = {
    onStart: (span, parent) => batches.onStart(span, parent),
    onEnd: (span) => {
      if (waiting >= MAX_WAITING) return drop(1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
  const provider = new TracerProvider({
    // A parent decides for its children, in this and other processes.
    sampler: new ParentBasedSampler({
      root: rate > 0 ? new TraceIdRatioBasedSampler(rate / MILLION) : new AlwaysOffSampler(),
    }),
    resource: detectResources({ detectors: [resourceAttributesEnvDetector] }).merge(
      resourceFromAttributes({ "service.name": "kubelet", "host.name": hostName }),
    ),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE },
    spanProcessors: [bounded],
  });
  return {
    start: (given) => startSpan(provider, given),
    dropped$: dropped$.asObservable(),
    close: () =>
      fromCall(() => provider.shutdown()).pipe(
        ignoreElements(),
        deadline(CLOSE_MS, clock),
        catchError((thrown: unknown) => {
          log.warn("The last spans were not exported", { error: toKubeletError(thrown) });
          return EMPTY;
        }),
      ),
  };
}

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

function startSpan(provider: TracerProvider, { name, scope, kind = "internal", ...given }: SpanStart) {
  const { parent, links = [], attributes = {} } = given;
  const under: Context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toOtel(parent));
  const options = { kind: KINDS[kind], attributes, links: links.map((link) => ({ context: toOtel(link) })) };
  const span = provider.getTracer(scope).startSpan(name, options, under);
  return {
    context: fromOtel(span.spanContext()),
    set: (more: SpanAttributes) => void span.setAttributes(more),
    event: (event: string, more: SpanAttributes) => void span.addEvent(event, more),
    fail: (message: string) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
    end: () => {
      // A second end is a mistake in the SDK's eyes, and here the rule for calls that are cancelled late.
      if (span.isRecording()) span.end();
    },
  };
}
