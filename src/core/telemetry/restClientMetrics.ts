/** Metrics of requests to the API server, as client-go has them. */
import type { MetricRow } from "./metricRow.ts";

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;
/** 64 B to 16 MiB. */
const SIZE_BUCKETS = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] as const;

/** By HTTP method and `host:port`. */
export const restClientMetrics = {
  rest_client_rate_limiter_duration_seconds: {
    type: "histogram",
    help: "How long requests to the API server waited for their turn under the rate.",
    labels: ["host", "verb"],
    buckets: DURATION_BUCKETS,
  },
  rest_client_request_duration_seconds: {
    type: "histogram",
    help: "Duration of requests to the API server, watches left out.",
    labels: ["host", "verb"],
    buckets: DURATION_BUCKETS,
  },
  rest_client_request_size_bytes: {
    type: "histogram",
    help: "Size of what was sent to the API server, by request.",
    labels: ["host", "verb"],
    buckets: SIZE_BUCKETS,
  },
  rest_client_requests_total: {
    type: "counter",
    help: "Requests to the API server by code of the answer; <error> when there was none.",
    labels: ["code", "host", "method"],
  },
  rest_client_response_size_bytes: {
    type: "histogram",
    help: "Size of what the API server answered, by request.",
    labels: ["host", "verb"],
    buckets: SIZE_BUCKETS,
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
