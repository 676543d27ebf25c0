/** Metrics of the Node's registration, readiness and shutdowns, with upstream's names. */
import type { MetricRow } from "./metricRow.ts";

export const nodeMetrics = {
  kubelet_graceful_shutdown_start_time_seconds: {
    type: "gauge",
    help: "When the last shutdown of the node began to end pods, in seconds since the epoch; 0 before the first.",
    labels: [],
  },
  kubelet_graceful_shutdown_end_time_seconds: {
    type: "gauge",
    help: "When the last shutdown of the node had ended its pods, in seconds since the epoch; 0 until then.",
    labels: [],
  },
  kubelet_node_startup_pre_kubelet_duration_seconds: {
    type: "gauge",
    help: "Time from the boot of the machine to the start of the kubelet that registered the node.",
    labels: [],
  },
  kubelet_node_startup_pre_registration_duration_seconds: {
    type: "gauge",
    help: "Time from the start of the kubelet to its first attempt to register a new node.",
    labels: [],
  },
  kubelet_node_startup_registration_duration_seconds: {
    type: "gauge",
    help: "Time from the first attempt to register a new node to its success.",
    labels: [],
  },
  kubelet_node_startup_post_registration_duration_seconds: {
    type: "gauge",
    help: "Time from the registration of a new node to its first Ready status.",
    labels: [],
  },
  kubelet_node_startup_duration_seconds: {
    type: "gauge",
    help: "Time from the boot of the machine to the first Ready status of a new node.",
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
