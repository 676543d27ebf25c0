/**
 * Metrics that the upstream kubelet also has: names, types, labels and buckets are upstream's, the help texts are our
 * own. Lists only metrics that this kubelet sets; a row without samples is not rendered.
 */
import {
  DEFAULT_BUCKETS,
  IMAGE_PULL_BUCKETS,
  type MetricRow,
  POD_START_BUCKETS,
  RESIZE_BUCKETS,
  RUNTIME_CALL_BUCKETS,
} from "./metricRow.ts";

/** Metrics of pods and their workers. */
export const podMetrics = {
  kubelet_active_pods: {
    type: "gauge",
    help: "Pods the kubelet considers active: admitted and not known to be terminated.",
    labels: ["static"],
  },
  kubelet_admission_rejections_total: {
    type: "counter",
    help: "Pods rejected by admission on this node, by the reason in their status.",
    labels: ["reason"],
  },
  kubelet_container_requested_resizes_total: {
    type: "counter",
    help: "Requested changes of container requests and limits: resource, requirement, and add, remove, increase or decrease.",
    labels: ["resource", "requirement", "operation"],
  },
  kubelet_containers_per_pod_count: {
    type: "histogram",
    help: "Containers in the spec of each pod when it is first seen.",
    labels: [],
    buckets: [1, 2, 4, 8, 16],
  },
  kubelet_desired_pods: {
    type: "gauge",
    help: "Pods that the configuration sources assign to this node.",
    labels: ["static"],
  },
  kubelet_managed_ephemeral_containers: {
    type: "gauge",
    help: "Ephemeral containers of the pods that the configuration sources assign to this node.",
    labels: [],
  },
  kubelet_mirror_pods: {
    type: "gauge",
    help: "Mirror pods of this node's static pods known from the API server.",
    labels: [],
  },
  kubelet_orphaned_runtime_pods_total: {
    type: "counter",
    help: "Pods found in the runtime that no source has; each is terminated.",
    labels: [],
  },
  kubelet_pod_deferred_accepted_resizes_total: {
    type: "counter",
    help: "Deferred resizes that were allocated later, by the trigger of the retry.",
    labels: ["retry_trigger"],
  },
  kubelet_pod_in_progress_resizes: {
    type: "gauge",
    help: "Pods whose allocated resize is not actuated yet.",
    labels: [],
  },
  kubelet_pod_infeasible_resizes_total: {
    type: "counter",
    help: "Infeasible resizes on this node, by reason.",
    labels: ["reason_detail"],
  },
  kubelet_pod_pending_resizes: {
    type: "gauge",
    help: "Pods with a pending resize, by reason: deferred or infeasible.",
    labels: ["reason"],
  },
  kubelet_pod_resize_duration_milliseconds: {
    type: "histogram",
    help: "Duration in milliseconds of actuating an allocated resize, and whether it succeeded.",
    labels: ["success"],
    buckets: RESIZE_BUCKETS,
  },
  kubelet_pod_start_duration_seconds: {
    type: "histogram",
    help: "Time from first seeing a pod to its containers running.",
    labels: [],
    buckets: POD_START_BUCKETS,
  },
  kubelet_first_network_pod_start_sli_duration_seconds: {
    type: "gauge",
    help: "First pod without host networking: time from its creation to its containers seen running, without image pulls.",
    labels: [],
  },
  kubelet_pod_start_sli_duration_seconds: {
    type: "histogram",
    help: "Time from a pod's creation to its containers seen running, without image pulls and init containers.",
    labels: [],
    buckets: POD_START_BUCKETS,
  },
  kubelet_pod_start_total_duration_seconds: {
    type: "histogram",
    help: "Time from a pod's creation to its containers seen running, image pulls and init containers included.",
    labels: [],
    buckets: POD_START_BUCKETS,
  },
  kubelet_pod_status_sync_duration_seconds: {
    type: "histogram",
    help: "Time from a change of a pod's status to the moment it is published.",
    labels: [],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  },
  kubelet_pod_worker_duration_seconds: {
    type: "histogram",
    help: "Duration of one run of a pod worker, by operation: create, update, sync or kill.",
    labels: ["operation_type"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_pod_worker_start_duration_seconds: {
    type: "histogram",
    help: "Time from seeing a pod to its worker starting.",
    labels: [],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_preemptions: {
    type: "counter",
    help: "Pods preempted for a critical pod that stopped in time, by the insufficient resource.",
    labels: ["preemption_signal"],
  },
  kubelet_restarted_pods_total: {
    type: "counter",
    help: "Pods created again with the UID of a pod that was deleted.",
    labels: ["static"],
  },
  kubelet_running_containers: {
    type: "gauge",
    help: "Containers in the runtime, by state: created, running, exited, unknown.",
    labels: ["container_state"],
  },
  kubelet_running_pods: { type: "gauge", help: "Pods with a running sandbox.", labels: [] },
  kubelet_started_containers_errors_total: {
    type: "counter",
    help: "Container starts that failed, by kind of container and error.",
    labels: ["container_type", "code"],
  },
  kubelet_started_containers_total: {
    type: "counter",
    help: "Container starts attempted, by kind of container (a sandbox counts as pod_sandbox).",
    labels: ["container_type"],
  },
  kubelet_started_pods_errors_total: { type: "counter", help: "Pod starts that failed.", labels: [] },
  kubelet_started_pods_total: { type: "counter", help: "Pod starts attempted: one per sandbox.", labels: [] },
  kubelet_started_user_namespaced_pods_errors_total: {
    type: "counter",
    help: "Failed starts of pods with their own user namespace.",
    labels: [],
  },
  kubelet_started_user_namespaced_pods_total: {
    type: "counter",
    help: "Attempted starts of pods with their own user namespace.",
    labels: [],
  },
  kubelet_terminated_containers_total: {
    type: "counter",
    help: "Containers seen to exit, by kind, exit code and reason.",
    labels: ["container_type", "exit_code", "reason"],
  },
  kubelet_working_pods: {
    type: "gauge",
    help: "Pods with a worker: by its phase, whether still configured (desired, orphan, runtime_only), and whether static.",
    labels: ["lifecycle", "config", "static"],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

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
