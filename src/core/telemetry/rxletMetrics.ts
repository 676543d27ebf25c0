/** The pipeline's own metrics: bounds, queues, drops, restarts of sources, inspections. Upstream has none of these. */
import { LOOP_LAG_BUCKETS, type MetricRow, RESOURCE_WAIT_BUCKETS, STALL_BUCKETS } from "./metricRow.ts";

/** Metrics that only this kubelet has. */
export const rxletMetrics = {
  rxlet_answers_cut_off_total: {
    type: "counter",
    help: "Responses of the kubelet's servers cut off: stall when a client read nothing for a minute, limit when too many responses waited for their clients.",
    labels: ["reason"],
  },
  rxlet_connections_closed_at_limit_total: {
    type: "counter",
    help: "Connections to the kubelet's servers closed because there were too many, by the authentication of the peer.",
    labels: ["pool"],
  },
  rxlet_dropped_total: {
    type: "counter",
    help: "Items dropped because a bounded queue was full or a rate was exceeded, by queue.",
    labels: ["queue"],
  },
  rxlet_event_loop_lag_seconds: {
    type: "histogram",
    help: "How late the event loop ran its timers.",
    labels: [],
    buckets: LOOP_LAG_BUCKETS,
  },
  rxlet_event_loop_stall_seconds: {
    type: "histogram",
    help: "Stalls of the event loop of 50 ms and more, by the kind of work that caused them.",
    labels: ["stage"],
    buckets: STALL_BUCKETS,
  },
  rxlet_events_total: {
    type: "counter",
    help: "Kubernetes events recorded, before repeated ones are combined or filtered.",
    labels: ["type", "reason"],
  },
  rxlet_failed_tasks_total: {
    type: "counter",
    help: "Failures of background tasks, by task.",
    labels: ["task"],
  },
  rxlet_inspections_total: {
    type: "counter",
    help: "Inspections of pods in the runtime, by result: ok or the code of the error.",
    labels: ["result"],
  },
  rxlet_leaked_calls_total: {
    type: "counter",
    help: "Calls abandoned because they did not end by the deadline after their cancellation.",
    labels: [],
  },
  rxlet_live_keys: { type: "gauge", help: "Keys with a live worker, by kind of worker.", labels: ["worker"] },
  rxlet_log_rotations_total: {
    type: "counter",
    help: "Logs of containers rotated, by result: ok or the code of the error.",
    labels: ["result"],
  },
  rxlet_manifest_errors_total: {
    type: "counter",
    help: "Manifests rejected, by source: unreadable, malformed or invalid.",
    labels: ["source"],
  },
  rxlet_manifest_problems: {
    type: "gauge",
    help: "Manifests currently rejected, by source; their last valid pods keep running.",
    labels: ["source"],
  },
  rxlet_memory_shed_total: {
    type: "counter",
    help: "Entries given up because memory ran out, by kind (caches, requests or watchers) and name.",
    labels: ["kind", "name"],
  },
  rxlet_metric_misuses_total: {
    type: "counter",
    help: "Samples ignored because labels or value did not fit the metric: a bug, by metric.",
    labels: ["metric"],
  },
  rxlet_offline_record_failures_total: {
    type: "counter",
    help: "Records for a boot without the API server that could not be read or written, by action: read or write.",
    labels: ["action"],
  },
  rxlet_offline_records: {
    type: "gauge",
    help: "Records on disk for a boot without the API server.",
    labels: [],
  },
  rxlet_offline_restored_pods: {
    type: "gauge",
    help: "Pods restored from disk that the API server has not sent since the start.",
    labels: [],
  },
  rxlet_pods_waiting_for_resources: {
    type: "gauge",
    help: "Pods that wait for the resources of terminating pods.",
    labels: [],
  },
  rxlet_probe_lateness_seconds: {
    type: "histogram",
    help: "Delay between a probe's due time and its start.",
    labels: [],
    buckets: LOOP_LAG_BUCKETS,
  },
  rxlet_queue_depth: { type: "gauge", help: "Items waiting in a bounded queue.", labels: ["queue"] },
  rxlet_resource_wait_duration_seconds: {
    type: "histogram",
    help: "How long pods waited for the resources of terminating pods, by outcome: started, rejected or removed.",
    labels: ["outcome"],
    buckets: RESOURCE_WAIT_BUCKETS,
  },
  rxlet_source_up: {
    type: "gauge",
    help: "1 while a source is open, 0 while it is being reopened.",
    labels: ["source"],
  },
  rxlet_supervise_restarts_total: {
    type: "counter",
    help: "Times a source was reopened after it failed or ended.",
    labels: ["source"],
  },
  rxlet_unhandled_errors_total: {
    type: "counter",
    help: "Errors that no code handled, by kind: exception of a callback, or rejection of a promise. Each one is a bug.",
    labels: ["kind"],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
