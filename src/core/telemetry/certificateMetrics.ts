/** Metrics of the certificates that the node rotates. */
import type { MetricRow } from "./metricRow.ts";

/** Buckets of one minute to four years, as upstream. */
const AGE_BUCKETS = [
  60, 3_600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
] as const;

/** Metrics of the client and the serving certificate; the TTL gauges exist only while the certificate is rotated. */
export const certificateMetrics = {
  kubelet_certificate_manager_client_expiration_renew_errors: {
    type: "counter",
    help: "Failed attempts to obtain or renew a client certificate.",
    labels: [],
  },
  kubelet_certificate_manager_client_ttl_seconds: {
    type: "gauge",
    help: "Seconds until the client certificate expires, negative afterwards; +Inf without one.",
    labels: [],
    isUnsetAtFirst: true,
  },
  kubelet_certificate_manager_server_rotation_seconds: {
    type: "histogram",
    help: "Age of serving certificates when they were replaced.",
    labels: [],
    buckets: AGE_BUCKETS,
  },
  kubelet_server_expiration_renew_errors: {
    type: "counter",
    help: "Failed attempts to obtain or renew a serving certificate.",
    labels: [],
  },
  kubelet_certificate_manager_server_ttl_seconds: {
    type: "gauge",
    help: "Seconds until the serving certificate expires, negative afterwards; +Inf without one.",
    labels: [],
    isUnsetAtFirst: true,
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
