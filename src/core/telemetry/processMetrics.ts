/** Metrics of the node, the build, the HTTP server and the process; names, types and labels are upstream's. */
import { DEFAULT_BUCKETS, type MetricRow } from "./metricRow.ts";

const HTTP_LABELS = ["method", "path", "server_type", "long_running"] as const;

/** Metrics of the node, the build and the HTTP server. */
export const serverMetrics = {
  kubelet_http_inflight_requests: {
    type: "gauge",
    help: "HTTP requests in flight.",
    labels: HTTP_LABELS,
  },
  kubelet_http_requests_duration_seconds: {
    type: "histogram",
    help: "Duration of HTTP requests.",
    labels: HTTP_LABELS,
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_websocket_streaming_requests_total: {
    type: "counter",
    help: "Exec, attach and port-forward requests over WebSocket.",
    labels: ["subresource"],
  },
  kubelet_http_requests_total: { type: "counter", help: "HTTP requests received.", labels: HTTP_LABELS },
  kubernetes_healthcheck: {
    type: "gauge",
    help: "Result of the last run of a health check: 1 for success, 0 for an error.",
    labels: ["name", "type"],
    page: "slis",
  },
  kubernetes_healthchecks_total: {
    type: "counter",
    help: "Runs of health checks by result.",
    labels: ["name", "type", "status"],
    page: "slis",
  },
  kubelet_node_name: { type: "gauge", help: "Always 1; the label is the name of this node.", labels: ["node"] },
  kubernetes_build_info: {
    type: "gauge",
    help: "Always 1; the labels describe this build.",
    labels: [
      "major",
      "minor",
      "git_version",
      "git_commit",
      "git_tree_state",
      "build_date",
      "go_version",
      "compiler",
      "platform",
    ],
  },
  kubernetes_feature_enabled: {
    type: "gauge",
    help: "1 when the feature gate is on, 0 when it is off.",
    labels: ["name", "stage"],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Metrics read from the operating system at each scrape; a value that the system does not provide is not rendered. */
export const processMetrics = {
  process_cpu_seconds_total: { type: "counter", help: "User and system CPU time spent.", labels: [] },
  process_max_fds: { type: "gauge", help: "Limit of open file descriptors.", labels: [] },
  process_network_receive_bytes_total: {
    type: "counter",
    help: "Bytes received over IP in the network namespace of the process.",
    labels: [],
  },
  process_network_transmit_bytes_total: {
    type: "counter",
    help: "Bytes sent over IP in the network namespace of the process.",
    labels: [],
  },
  process_open_fds: { type: "gauge", help: "Open file descriptors.", labels: [] },
  process_resident_memory_bytes: { type: "gauge", help: "Resident memory.", labels: [] },
  process_start_time_seconds: { type: "gauge", help: "Unix time at which the process started.", labels: [] },
  process_virtual_memory_bytes: { type: "gauge", help: "Virtual memory.", labels: [] },
  process_virtual_memory_max_bytes: { type: "gauge", help: "Limit of virtual memory.", labels: [] },
} as const satisfies Readonly<Record<string, MetricRow>>;
