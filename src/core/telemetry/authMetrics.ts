/**
 * Metrics of authentication and authorization at the kubelet's server; names and labels are those of the API server
 * library.
 */
import { DEFAULT_BUCKETS, type MetricRow } from "./metricRow.ts";

const REVIEW_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10] as const;
/** Buckets in seconds, expired to one year. */
const LIFETIME_BUCKETS = [
  0, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000,
  31_104_000,
] as const;

/** `code` is the HTTP status of the API server's response, `<error>` without one. */
export const authMetrics = {
  apiserver_client_certificate_expiration_seconds: {
    type: "histogram",
    help: "Remaining lifetime of the client certificates presented to the kubelet's server, per request.",
    labels: [],
    buckets: LIFETIME_BUCKETS,
  },
  apiserver_delegated_authn_request_duration_seconds: {
    type: "histogram",
    help: "Duration of TokenReview requests to the API server.",
    labels: ["code"],
    buckets: REVIEW_BUCKETS,
  },
  apiserver_delegated_authn_request_total: {
    type: "counter",
    help: "TokenReview requests to the API server.",
    labels: ["code"],
  },
  apiserver_delegated_authz_request_duration_seconds: {
    type: "histogram",
    help: "Duration of SubjectAccessReview requests to the API server.",
    labels: ["code"],
    buckets: REVIEW_BUCKETS,
  },
  apiserver_delegated_authz_request_total: {
    type: "counter",
    help: "SubjectAccessReview requests to the API server.",
    labels: ["code"],
  },
  authentication_token_cache_active_fetch_count: {
    type: "gauge",
    help: "TokenReviews in flight (in_flight), and requests that wait for one (blocked).",
    labels: ["status"],
  },
  authentication_token_cache_fetch_total: {
    type: "counter",
    help: "TokenReviews by result: ok or error.",
    labels: ["status"],
  },
  authentication_token_cache_request_duration_seconds: {
    type: "histogram",
    help: "Duration of authenticating a token: cached (hit) or not (miss).",
    labels: ["status"],
    buckets: DEFAULT_BUCKETS,
  },
  authentication_token_cache_request_total: {
    type: "counter",
    help: "Requests with a token: cached (hit) or not (miss).",
    labels: ["status"],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
