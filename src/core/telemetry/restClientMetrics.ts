/** Metrics of requests to the API server, with client-go's names. */
import type { MetricRow } from "./metricRow.ts";

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;
const LOOKUP_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30] as const;
/** 64 B to 16 MiB. */
const SIZE_BUCKETS = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] as const;

/** Ten minutes to four years. */
const ROTATION_BUCKETS = [
  600, 1_800, 3_600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
] as const;

/** Labelled by HTTP method and `host:port`. */
export const restClientMetrics = {
  rest_client_dns_resolution_duration_seconds: {
    type: "histogram",
    help: "Duration of look-ups of the API server's host name, for new connections.",
    labels: ["host"],
    buckets: LOOKUP_BUCKETS,
  },
  rest_client_exec_plugin_call_total: {
    type: "counter",
    help: "Runs of exec plugins by exit code and outcome.",
    labels: ["call_status", "code"],
  },
  rest_client_exec_plugin_certificate_rotation_age: {
    type: "histogram",
    help: "Age in seconds of client certificates of exec plugins when they were replaced.",
    labels: [],
    buckets: ROTATION_BUCKETS,
  },
  rest_client_exec_plugin_ttl_seconds: {
    type: "gauge",
    help: "Seconds until the first client certificate of an exec plugin expires; +Inf without any.",
    labels: [],
    isUnsetAtFirst: true,
  },
  rest_client_rate_limiter_duration_seconds: {
    type: "histogram",
    help: "How long requests to the API server waited for the client's rate limit.",
    labels: ["host", "verb"],
    buckets: DURATION_BUCKETS,
  },
  rest_client_request_duration_seconds: {
    type: "histogram",
    help: "Duration of requests to the API server, without watches.",
    labels: ["host", "verb"],
    buckets: DURATION_BUCKETS,
  },
  rest_client_request_size_bytes: {
    type: "histogram",
    help: "Size of request bodies sent to the API server.",
    labels: ["host", "verb"],
    buckets: SIZE_BUCKETS,
  },
  rest_client_requests_total: {
    type: "counter",
    help: "Requests to the API server by response code; <error> without a response.",
    labels: ["code", "host", "method"],
  },
  rest_client_response_size_bytes: {
    type: "histogram",
    help: "Size of response bodies of the API server.",
    labels: ["host", "verb"],
    buckets: SIZE_BUCKETS,
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
