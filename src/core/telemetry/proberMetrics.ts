/** Metrics of probes, on their own page as upstream. */
import { DEFAULT_BUCKETS, type MetricRow } from "./metricRow.ts";

/** A container's series are dropped when it is removed. */
export const proberMetrics = {
  prober_probe_duration_seconds: {
    type: "histogram",
    help: "Duration of successful probes of a container.",
    labels: ["container", "namespace", "pod", "probe_type"],
    buckets: DEFAULT_BUCKETS,
    page: "probes",
  },
  prober_probe_total: {
    type: "counter",
    help: "Probes of a container by result: successful, failed or unknown.",
    labels: ["container", "namespace", "pod", "pod_uid", "probe_type", "result"],
    page: "probes",
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
