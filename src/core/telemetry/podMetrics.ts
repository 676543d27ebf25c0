/**
 * Metrics of pods and their workers. Names, types, labels and buckets are upstream's, the help texts are our own. Lists
 * only metrics that this kubelet sets; a row without samples is not rendered.
 */
import { DEFAULT_BUCKETS, type MetricRow, POD_START_BUCKETS, RESIZE_BUCKETS } from "./metricRow.ts";

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
