/** Metrics of volumes: names, labels and buckets are upstream's. */
import type { MetricRow } from "./metricRow.ts";

/** In seconds. */
const OPERATION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const ofClaim = (help: string) => ({ type: "gauge", help, labels: ["namespace", "persistentvolumeclaim"] }) as const;

export const volumeMetrics = {
  kubelet_container_log_filesystem_used_bytes: {
    type: "gauge",
    help: "Bytes the logs of a container take on disk.",
    labels: ["uid", "namespace", "pod", "container"],
  },
  kubelet_volume_stats_available_bytes: ofClaim("Bytes that can still be written to the volume of a claim."),
  kubelet_volume_stats_capacity_bytes: ofClaim("Size of the volume of a claim in bytes."),
  kubelet_volume_stats_inodes: ofClaim("Inodes of the volume of a claim."),
  kubelet_volume_stats_inodes_free: ofClaim("Free inodes of the volume of a claim."),
  kubelet_volume_stats_inodes_used: ofClaim("Used inodes of the volume of a claim."),
  kubelet_volume_stats_used_bytes: ofClaim("Used bytes of the volume of a claim."),
  kubelet_volume_metric_collection_duration_seconds: {
    type: "histogram",
    help: "Time in seconds it took to measure a volume, by counting what is in it (du) or asking its file system (statfs).",
    labels: ["metric_source"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_evictions: {
    type: "counter",
    help: "Pods evicted, by what they had too much of.",
    labels: ["eviction_signal"],
  },
  kubelet_podcertificate_states: {
    type: "gauge",
    help: "Certificates that volumes of pods want, by signer and state: not_yet_issued, fresh, overdue_for_refresh, expired, denied or failed.",
    labels: ["signer_name", "state"],
  },
  kubelet_image_volume_requested_total: {
    type: "counter",
    help: "Images asked for to be mounted as volumes.",
    labels: [],
  },
  kubelet_image_volume_mounted_succeed_total: {
    type: "counter",
    help: "Images given to a container as volumes.",
    labels: [],
  },
  kubelet_image_volume_mounted_errors_total: {
    type: "counter",
    help: "Images that could not be given to a container as volumes.",
    labels: [],
  },
  kubelet_orphan_pod_cleaned_volumes: {
    type: "gauge",
    help: "Directories of pods that are gone which the last sweep found.",
    labels: [],
  },
  kubelet_orphan_pod_cleaned_volumes_errors: {
    type: "gauge",
    help: "Directories of pods that are gone which the last sweep could not remove.",
    labels: [],
  },
  reconstruct_volume_operations_total: {
    type: "counter",
    help: "Volumes of earlier kubelets found on disk at start.",
    labels: [],
  },
  reconstruct_volume_operations_errors_total: {
    type: "counter",
    help: "Directories of volumes that could not be read at start.",
    labels: [],
  },
  volume_manager_total_volumes: {
    type: "gauge",
    help: "Volumes that pods want (desired_state_of_world) and that the node has (actual_state_of_world), by plugin.",
    labels: ["plugin_name", "state"],
  },
  volume_operation_total_seconds: {
    type: "histogram",
    help: "Time in seconds from when a pod wanted a volume, or other content in it, until it had it, waits between tries included.",
    labels: ["plugin_name", "operation_name"],
    buckets: OPERATION_BUCKETS,
  },
  storage_operation_duration_seconds: {
    type: "histogram",
    help: "Time in seconds it took to set up a volume (volume_mount) or to take it away (volume_unmount).",
    labels: ["volume_plugin", "operation_name", "status", "migrated"],
    buckets: OPERATION_BUCKETS,
  },
} as const satisfies Record<string, MetricRow>;
