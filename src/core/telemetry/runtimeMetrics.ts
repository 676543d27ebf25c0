/**
 * Metrics of the runtime, its events and images. Names, types, labels and buckets are upstream's, the help texts are our
 * own.
 */
import { DEFAULT_BUCKETS, IMAGE_PULL_BUCKETS, type MetricRow, RUNTIME_CALL_BUCKETS } from "./metricRow.ts";

/** Metrics of the runtime, its events and images. */
export const runtimeMetrics = {
  kubelet_cgroup_manager_duration_seconds: {
    type: "histogram",
    help: "Duration of operations on pod cgroups.",
    labels: ["operation_type"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_cgroup_version: { type: "gauge", help: "Version of the cgroup hierarchy: 1 or 2.", labels: [] },
  kubelet_memory_qos_node_memory_low_bytes: {
    type: "gauge",
    help: "Memory of Burstable pods protected by memory.low, in bytes.",
    labels: [],
  },
  kubelet_memory_qos_node_memory_min_bytes: {
    type: "gauge",
    help: "Memory of Guaranteed pods protected by memory.min, in bytes.",
    labels: [],
  },
  kubelet_credential_provider_config_info: {
    type: "gauge",
    help: "1: the configuration of credential plugins in use, by its hash.",
    labels: ["hash"],
  },
  kubelet_credential_provider_plugin_duration: {
    type: "histogram",
    help: "Duration of runs of credential plugins, in seconds.",
    labels: ["plugin_name"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_credential_provider_plugin_errors_total: {
    type: "counter",
    help: "Runs of credential plugins that failed.",
    labels: ["plugin_name"],
  },
  kubelet_cri_losing_support: {
    type: "gauge",
    help: "1: the runtime does not support RuntimeConfig; the label is the Kubernetes version whose kubelet requires it.",
    labels: ["version"],
  },
  kubelet_evented_pleg_connection_error_count: {
    type: "counter",
    help: "Failed attempts to open the runtime's event stream.",
    labels: [],
  },
  kubelet_evented_pleg_connection_latency_seconds: {
    type: "histogram",
    help: "Age of a container event on arrival, from the runtime's timestamp.",
    labels: [],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_evented_pleg_connection_success_count: {
    type: "counter",
    help: "Times the runtime's event stream was opened.",
    labels: [],
  },
  kubelet_image_garbage_collected_total: {
    type: "counter",
    help: "Images removed, by the reason: age, or space on the disk.",
    labels: ["reason"],
  },
  kubelet_image_manager_ensure_image_requests_total: {
    type: "counter",
    help: "Image checks before container starts, with the result and whether a pull was required.",
    labels: ["present_locally", "pull_policy", "pull_required"],
  },
  kubelet_imagemanager_image_mustpull_checks_total: {
    type: "counter",
    help: "Checks whether a pod may use an image that is on the node, by their result.",
    labels: ["result"],
  },
  kubelet_imagemanager_ondisk_pulledrecords: {
    type: "gauge",
    help: "Images on record as pulled by a kubelet.",
    labels: [],
  },
  kubelet_imagemanager_ondisk_pullintents: { type: "gauge", help: "Images a kubelet is pulling.", labels: [] },
  kubelet_image_pull_duration_seconds: {
    type: "histogram",
    help: "Duration of image pulls, by size class of the image.",
    labels: ["image_size_in_bytes"],
    buckets: IMAGE_PULL_BUCKETS,
  },
  kubelet_lifecycle_handler_http_fallbacks_total: {
    type: "counter",
    help: "HTTPS lifecycle hooks that were answered over HTTP.",
    labels: [],
  },
  kubelet_metrics_provider: {
    type: "gauge",
    help: "Always 1; the label is the source of pod and container stats: cri.",
    labels: ["provider"],
  },
  kubelet_pleg_last_seen_seconds: {
    type: "gauge",
    help: "Unix time of the last successful relist.",
    labels: [],
  },
  kubelet_pleg_pod_relist_duration_seconds: {
    type: "histogram",
    help: "Duration of one inspection of one pod in the runtime.",
    labels: [],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_pleg_relist_duration_seconds: {
    type: "histogram",
    help: "Duration of one relist of all pods.",
    labels: [],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_pleg_relist_interval_seconds: {
    type: "histogram",
    help: "Time between the starts of two relists.",
    labels: [],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_run_podsandbox_duration_seconds: {
    type: "histogram",
    help: "Duration of sandbox creation, by runtime handler.",
    labels: ["runtime_handler"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_run_podsandbox_errors_total: {
    type: "counter",
    help: "Sandbox creations that failed, by runtime handler.",
    labels: ["runtime_handler"],
  },
  kubelet_runtime_operations_duration_seconds: {
    type: "histogram",
    help: "Duration of calls to the runtime, by operation.",
    labels: ["operation_type"],
    buckets: RUNTIME_CALL_BUCKETS,
  },
  kubelet_runtime_operations_errors_total: {
    type: "counter",
    help: "Calls to the runtime that failed, by operation.",
    labels: ["operation_type"],
  },
  kubelet_runtime_operations_total: {
    type: "counter",
    help: "Calls made to the runtime, by operation.",
    labels: ["operation_type"],
  },
  kubelet_sleep_action_terminated_early_total: {
    type: "counter",
    help: "Sleep hooks cut short because the container ended first.",
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
