/** Metrics of volumes: names, labels and bounds are upstream's. */
import type { MetricRow } from "./metricRow.ts";

export const volumeMetrics = {
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
  storage_operation_duration_seconds: {
    type: "histogram",
    help: "Time in seconds it took to set up a volume (volume_mount) or to take it away (volume_unmount).",
    labels: ["volume_plugin", "operation_name", "status", "migrated"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  },
} as const satisfies Record<string, MetricRow>;
