/** Metrics of volumes: names, labels and buckets are upstream's. */
import type { MetricRow } from "./metricRow.ts";

/** Unit: seconds. */
const OPERATION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const ofClaim = (help: string) => ({ type: "gauge", help, labels: ["namespace", "persistentvolumeclaim"] }) as const;

/** Upstream has counts of SELinux labels as gauges. */
const ofLabels = (help: string, ...more: readonly string[]) =>
  ({ type: "gauge", help, labels: [...more, "access_mode"] }) as const;

export const volumeMetrics = {
  kubelet_container_log_filesystem_used_bytes: {
    type: "gauge",
    help: "Disk usage of a container's logs in bytes.",
    labels: ["uid", "namespace", "pod", "container"],
  },
  kubelet_volume_stats_available_bytes: ofClaim("Available bytes of the volume of a claim."),
  kubelet_volume_stats_capacity_bytes: ofClaim("Size of the volume of a claim in bytes."),
  kubelet_volume_stats_health_status_abnormal: ofClaim(
    "Health of the volume of a claim, as its CSI driver reports it: 1 for an abnormal volume, 0 for a healthy one.",
  ),
  kubelet_volume_stats_inodes: ofClaim("Inodes of the volume of a claim."),
  kubelet_volume_stats_inodes_free: ofClaim("Free inodes of the volume of a claim."),
  kubelet_volume_stats_inodes_used: ofClaim("Used inodes of the volume of a claim."),
  kubelet_volume_stats_used_bytes: ofClaim("Used bytes of the volume of a claim."),
  kubelet_volume_metric_collection_duration_seconds: {
    type: "histogram",
    help: "Duration in seconds of measuring a volume, by walking its files (du) or querying its file system (statfs).",
    labels: ["metric_source"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_evictions: {
    type: "counter",
    help: "Pods evicted, by eviction signal or exceeded limit.",
    labels: ["eviction_signal"],
  },
  kubelet_eviction_stats_age_seconds: {
    type: "histogram",
    help: "Age in seconds of the figures that an eviction was based on, by eviction signal.",
    labels: ["eviction_signal"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_podcertificate_states: {
    type: "gauge",
    help: "Certificates of pod volumes, by signer and state: not_yet_issued, fresh, overdue_for_refresh, expired, denied or failed.",
    labels: ["signer_name", "state"],
  },
  kubelet_image_volume_requested_total: {
    type: "counter",
    help: "Image volume mounts requested.",
    labels: [],
  },
  kubelet_image_volume_mounted_succeed_total: {
    type: "counter",
    help: "Image volumes mounted into containers.",
    labels: [],
  },
  kubelet_image_volume_mounted_errors_total: {
    type: "counter",
    help: "Image volume mounts that failed.",
    labels: [],
  },
  kubelet_orphan_pod_cleaned_volumes: {
    type: "gauge",
    help: "Directories of removed pods found by the last cleanup.",
    labels: [],
  },
  kubelet_orphan_pod_cleaned_volumes_errors: {
    type: "gauge",
    help: "Directories of removed pods that the last cleanup could not remove.",
    labels: [],
  },
  reconstruct_volume_operations_total: {
    type: "counter",
    help: "Volumes of earlier kubelets found on disk at startup.",
    labels: [],
  },
  reconstruct_volume_operations_errors_total: {
    type: "counter",
    help: "Volume directories that could not be read at startup.",
    labels: [],
  },
  volume_manager_selinux_container_errors_total: ofLabels(
    "Volumes refused to a pod because a container's seLinuxOptions are no SELinux label.",
  ),
  volume_manager_selinux_container_warnings_total: ofLabels(
    "Volumes mounted without a label although a container's seLinuxOptions are no SELinux label.",
  ),
  volume_manager_selinux_pod_context_mismatch_errors_total: ofLabels(
    "Volumes refused to a pod whose containers use them with different SELinux labels.",
  ),
  volume_manager_selinux_pod_context_mismatch_warnings_total: ofLabels(
    "Volumes mounted without a label for a pod whose containers use them with different SELinux labels.",
  ),
  volume_manager_selinux_volume_context_mismatch_errors_total: ofLabels(
    "Volumes refused to a pod because another pod uses them with another SELinux label.",
    "volume_plugin",
  ),
  volume_manager_selinux_volume_context_mismatch_warnings_total: ofLabels(
    "Volumes that pods share although they use them with different SELinux labels; they would be refused if all access modes were mounted with labels.",
    "volume_plugin",
  ),
  volume_manager_selinux_volumes_admitted_total: ofLabels(
    "Volumes that pods use with an SELinux label and that support mounts with it.",
    "volume_plugin",
  ),
  volume_manager_total_volumes: {
    type: "gauge",
    help: "Volumes in the desired state (desired_state_of_world) and the actual state (actual_state_of_world), by plugin.",
    labels: ["plugin_name", "state"],
  },
  volume_operation_total_seconds: {
    type: "histogram",
    help: "Time in seconds from when a pod needed a volume, or new content in it, until it was set up, including backoff.",
    labels: ["plugin_name", "operation_name"],
    buckets: OPERATION_BUCKETS,
  },
  csi_operations_seconds: {
    type: "histogram",
    help: "Duration in seconds of calls to CSI drivers.",
    labels: ["driver_name", "method_name", "grpc_status_code", "migrated"],
    buckets: OPERATION_BUCKETS,
  },
  storage_operation_duration_seconds: {
    type: "histogram",
    help: "Duration in seconds of mounts (volume_mount, map_volume) and unmounts (volume_unmount, unmap_volume; for the node unmount_device, unmap_device).",
    labels: ["volume_plugin", "operation_name", "status", "migrated"],
    buckets: OPERATION_BUCKETS,
  },
} as const satisfies Record<string, MetricRow>;
