import { describe, expect, it } from "vitest";
import { type MetricRow, metricTable } from "../../../../src/core/telemetry/metricTable.ts";

const rows = Object.entries<MetricRow>(metricTable);
const line = ([name, row]: readonly [string, MetricRow]): string =>
  `${name} ${row.type} ${[...row.labels].sort().join(",")}`;

/** Copied from a running kubelet 1.36. */
const UPSTREAM = `
apiserver_client_certificate_expiration_seconds histogram
apiserver_delegated_authn_request_duration_seconds histogram code
apiserver_delegated_authn_request_total counter code
apiserver_delegated_authz_request_duration_seconds histogram code
apiserver_delegated_authz_request_total counter code
authentication_token_cache_active_fetch_count gauge status
authentication_token_cache_fetch_total counter status
authentication_token_cache_request_duration_seconds histogram status
authentication_token_cache_request_total counter status
kubelet_device_plugin_alloc_duration_seconds histogram resource_name
kubelet_device_plugin_registration_total counter resource_name
plugin_manager_total_plugins gauge socket_path,state
kubelet_cpu_manager_allocation_per_numa gauge numa_node
kubelet_cpu_manager_exclusive_cpu_allocation_count gauge
kubelet_cpu_manager_pinning_errors_total counter
kubelet_cpu_manager_pinning_requests_total counter
kubelet_cpu_manager_shared_pool_size_millicores gauge
kubelet_topology_manager_admission_duration_ms histogram
kubelet_topology_manager_admission_errors_total counter
kubelet_topology_manager_admission_requests_total counter
kubelet_active_pods gauge static
kubelet_admission_rejections_total counter reason
kubelet_certificate_manager_client_expiration_renew_errors counter
kubelet_certificate_manager_client_ttl_seconds gauge
kubelet_certificate_manager_server_rotation_seconds histogram
kubelet_certificate_manager_server_ttl_seconds gauge
kubelet_cgroup_manager_duration_seconds histogram operation_type
kubelet_cgroup_version gauge
kubelet_container_requested_resizes_total counter operation,requirement,resource
kubelet_containers_per_pod_count histogram
kubelet_credential_provider_config_info gauge hash
kubelet_credential_provider_plugin_duration histogram plugin_name
kubelet_credential_provider_plugin_errors_total counter plugin_name
kubelet_cri_losing_support gauge version
kubelet_desired_pods gauge static
kubelet_evented_pleg_connection_error_count counter
kubelet_evented_pleg_connection_latency_seconds histogram
kubelet_evented_pleg_connection_success_count counter
kubelet_graceful_shutdown_end_time_seconds gauge
kubelet_graceful_shutdown_start_time_seconds gauge
kubelet_http_inflight_requests gauge long_running,method,path,server_type
kubelet_http_requests_duration_seconds histogram long_running,method,path,server_type
kubelet_http_requests_total counter long_running,method,path,server_type
kubelet_image_garbage_collected_total counter reason
kubelet_image_manager_ensure_image_requests_total counter present_locally,pull_policy,pull_required
kubelet_image_pull_duration_seconds histogram image_size_in_bytes
kubelet_image_volume_mounted_errors_total counter
kubelet_image_volume_mounted_succeed_total counter
kubelet_image_volume_requested_total counter
kubelet_imagemanager_image_mustpull_checks_total counter result
kubelet_imagemanager_ondisk_pulledrecords gauge
kubelet_imagemanager_ondisk_pullintents gauge
kubelet_lifecycle_handler_http_fallbacks_total counter
kubelet_managed_ephemeral_containers gauge
kubelet_memory_manager_pinning_errors_total counter
kubelet_memory_manager_pinning_requests_total counter
kubelet_memory_qos_node_memory_low_bytes gauge
kubelet_memory_qos_node_memory_min_bytes gauge
kubelet_metrics_provider gauge provider
kubelet_mirror_pods gauge
kubelet_node_name gauge node
kubelet_node_startup_duration_seconds gauge
kubelet_node_startup_post_registration_duration_seconds gauge
kubelet_node_startup_pre_kubelet_duration_seconds gauge
kubelet_node_startup_pre_registration_duration_seconds gauge
kubelet_node_startup_registration_duration_seconds gauge
kubelet_orphan_pod_cleaned_volumes gauge
kubelet_orphan_pod_cleaned_volumes_errors gauge
kubelet_orphaned_runtime_pods_total counter
kubelet_pleg_last_seen_seconds gauge
kubelet_pleg_pod_relist_duration_seconds histogram
kubelet_pleg_relist_duration_seconds histogram
kubelet_pleg_relist_interval_seconds histogram
kubelet_pod_deferred_accepted_resizes_total counter retry_trigger
kubelet_pod_in_progress_resizes gauge
kubelet_pod_infeasible_resizes_total counter reason_detail
kubelet_pod_pending_resizes gauge reason
kubelet_pod_resize_duration_milliseconds histogram success
csi_operations_seconds histogram driver_name,grpc_status_code,method_name,migrated
dra_grpc_operations_duration_seconds histogram driver_name,grpc_status_code,method_name
dra_operations_duration_seconds histogram is_error,operation_name
dra_resource_claims_in_use gauge driver_name
kubelet_container_aligned_compute_resources_count counter boundary,scope
kubelet_container_aligned_compute_resources_failure_count counter boundary,scope
kubelet_resource_manager_allocations_total counter resource_name,source
kubelet_resource_manager_allocation_errors_total counter resource_name,source
kubelet_resource_manager_container_assignments counter assignment_type,resource_name
kubelet_pod_watch_events_dropped_total counter
kubelet_pod_resources_endpoint_errors_get counter server_api_version
kubelet_pod_resources_endpoint_errors_get_allocatable counter server_api_version
kubelet_pod_resources_endpoint_errors_list counter server_api_version
kubelet_pod_resources_endpoint_requests_get counter server_api_version
kubelet_pod_resources_endpoint_requests_get_allocatable counter server_api_version
kubelet_pod_resources_endpoint_requests_list counter server_api_version
kubelet_pod_resources_endpoint_requests_total counter server_api_version
kubelet_pod_start_duration_seconds histogram
kubelet_pod_start_sli_duration_seconds histogram
kubelet_pod_start_total_duration_seconds histogram
kubelet_pod_status_sync_duration_seconds histogram
kubelet_pod_worker_duration_seconds histogram operation_type
kubelet_podcertificate_states gauge signer_name,state
kubelet_pod_worker_start_duration_seconds histogram
kubelet_preemptions counter preemption_signal
kubelet_restarted_pods_total counter static
kubelet_run_podsandbox_duration_seconds histogram runtime_handler
kubelet_run_podsandbox_errors_total counter runtime_handler
kubelet_running_containers gauge container_state
kubelet_running_pods gauge
kubelet_runtime_operations_duration_seconds histogram operation_type
kubelet_runtime_operations_errors_total counter operation_type
kubelet_runtime_operations_total counter operation_type
kubelet_server_expiration_renew_errors counter
kubelet_sleep_action_terminated_early_total counter
kubelet_started_containers_errors_total counter code,container_type
kubelet_started_containers_total counter container_type
kubelet_started_pods_errors_total counter
kubelet_started_pods_total counter
kubelet_started_user_namespaced_pods_errors_total counter
kubelet_started_user_namespaced_pods_total counter
kubelet_terminated_containers_total counter container_type,exit_code,reason
kubelet_websocket_streaming_requests_total counter subresource
kubelet_container_log_filesystem_used_bytes gauge container,namespace,pod,uid
kubelet_first_network_pod_start_sli_duration_seconds gauge
kubelet_eviction_stats_age_seconds histogram eviction_signal
kubelet_evictions counter eviction_signal
kubelet_volume_metric_collection_duration_seconds histogram metric_source
kubelet_volume_stats_available_bytes gauge namespace,persistentvolumeclaim
kubelet_volume_stats_capacity_bytes gauge namespace,persistentvolumeclaim
kubelet_volume_stats_health_status_abnormal gauge namespace,persistentvolumeclaim
kubelet_volume_stats_inodes gauge namespace,persistentvolumeclaim
kubelet_volume_stats_inodes_free gauge namespace,persistentvolumeclaim
kubelet_volume_stats_inodes_used gauge namespace,persistentvolumeclaim
kubelet_volume_stats_used_bytes gauge namespace,persistentvolumeclaim
kubelet_working_pods gauge config,lifecycle,static
kubernetes_build_info gauge build_date,compiler,git_commit,git_tree_state,git_version,go_version,major,minor,platform
kubernetes_feature_enabled gauge name,stage
kubernetes_healthcheck gauge name,type
kubernetes_healthchecks_total counter name,status,type
prober_probe_duration_seconds histogram container,namespace,pod,probe_type
prober_probe_total counter container,namespace,pod,pod_uid,probe_type,result
process_cpu_seconds_total counter
process_max_fds gauge
process_network_receive_bytes_total counter
process_network_transmit_bytes_total counter
process_open_fds gauge
process_resident_memory_bytes gauge
process_start_time_seconds gauge
process_virtual_memory_bytes gauge
process_virtual_memory_max_bytes gauge
reconstruct_volume_operations_errors_total counter
reconstruct_volume_operations_total counter
rest_client_dns_resolution_duration_seconds histogram host
rest_client_exec_plugin_call_total counter call_status,code
rest_client_exec_plugin_certificate_rotation_age histogram
rest_client_exec_plugin_ttl_seconds gauge
rest_client_rate_limiter_duration_seconds histogram host,verb
rest_client_request_duration_seconds histogram host,verb
rest_client_request_size_bytes histogram host,verb
rest_client_requests_total counter code,host,method
rest_client_response_size_bytes histogram host,verb
storage_operation_duration_seconds histogram migrated,operation_name,status,volume_plugin
volume_manager_selinux_container_errors_total gauge access_mode
volume_manager_selinux_container_warnings_total gauge access_mode
volume_manager_selinux_pod_context_mismatch_errors_total gauge access_mode
volume_manager_selinux_pod_context_mismatch_warnings_total gauge access_mode
volume_manager_selinux_volume_context_mismatch_errors_total gauge access_mode,volume_plugin
volume_manager_selinux_volume_context_mismatch_warnings_total gauge access_mode,volume_plugin
volume_manager_selinux_volumes_admitted_total gauge access_mode,volume_plugin
volume_manager_total_volumes gauge plugin_name,state
volume_operation_total_seconds histogram operation_name,plugin_name`
  .trim()
  .split("\n");

/** Names of histograms by their bounds. Those without the prefix `rxlet_` have upstream's bounds. */
const BOUNDS: readonly (readonly [bounds: string, names: readonly string[]])[] = [
  ["1 2 4 8 16", ["kubelet_containers_per_pod_count"]],
  [
    "0.05 0.1 0.2 0.4 0.8 1.6 3.2 6.4 12.8 25.6 51.2 102.4 204.8 409.6 819.2",
    ["kubelet_topology_manager_admission_duration_ms"],
  ],
  [
    "10 50 100 500 1000 2000 5000 10000 20000 30000 60000 120000 300000 600000",
    ["kubelet_pod_resize_duration_milliseconds"],
  ],
  [
    "0.5 1 2 3 4 5 6 8 10 20 30 45 60 120 180 240 300 360 480 600 900 1200 1800 2700 3600",
    [
      "kubelet_pod_start_duration_seconds",
      "kubelet_pod_start_sli_duration_seconds",
      "kubelet_pod_start_total_duration_seconds",
    ],
  ],
  ["0.01 0.05 0.1 0.5 1 5 10 20 30 45 60", ["kubelet_pod_status_sync_duration_seconds"]],
  [
    "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10",
    [
      "authentication_token_cache_request_duration_seconds",
      "kubelet_cgroup_manager_duration_seconds",
      "kubelet_credential_provider_plugin_duration",
      "kubelet_device_plugin_alloc_duration_seconds",
      "kubelet_evented_pleg_connection_latency_seconds",
      "kubelet_eviction_stats_age_seconds",
      "kubelet_http_requests_duration_seconds",
      "kubelet_pleg_pod_relist_duration_seconds",
      "kubelet_pleg_relist_duration_seconds",
      "kubelet_pleg_relist_interval_seconds",
      "kubelet_pod_worker_duration_seconds",
      "kubelet_pod_worker_start_duration_seconds",
      "kubelet_run_podsandbox_duration_seconds",
      "kubelet_volume_metric_collection_duration_seconds",
      "prober_probe_duration_seconds",
    ],
  ],
  ["1 5 10 20 30 60 120 180 240 300 360 480 600 900 1200 1800 2700 3600", ["kubelet_image_pull_duration_seconds"]],
  [
    "0 1800 3600 7200 21600 43200 86400 172800 345600 604800 2592000 7776000 15552000 31104000",
    ["apiserver_client_certificate_expiration_seconds"],
  ],
  [
    "0.25 0.5 0.7 1 1.5 3 5 10",
    ["apiserver_delegated_authn_request_duration_seconds", "apiserver_delegated_authz_request_duration_seconds"],
  ],
  [
    "600 1800 3600 14400 86400 604800 2592000 7776000 15552000 31104000 124416000",
    ["rest_client_exec_plugin_certificate_rotation_age"],
  ],
  [
    "0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60",
    ["rest_client_rate_limiter_duration_seconds", "rest_client_request_duration_seconds"],
  ],
  [
    "64 256 512 1024 4096 16384 65536 262144 1048576 4194304 16777216",
    ["rest_client_request_size_bytes", "rest_client_response_size_bytes"],
  ],
  [
    "60 3600 14400 86400 604800 2592000 7776000 15552000 31104000 124416000",
    ["kubelet_certificate_manager_server_rotation_seconds"],
  ],
  [
    "0.1 0.25 0.5 1 2.5 5 10 15 25 50 120 300 600",
    ["csi_operations_seconds", "storage_operation_duration_seconds", "volume_operation_total_seconds"],
  ],
  [
    "0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5",
    ["rxlet_event_loop_lag_seconds", "rxlet_probe_lateness_seconds"],
  ],
  ["0.1 0.25 0.5 1 2.5 5 10", ["rxlet_event_loop_stall_seconds"]],
  ["0.1 0.25 0.5 1 2 3 5 10 20 30 45 60 90 120 300 600", ["rxlet_resource_wait_duration_seconds"]],
];

describe("metricTable", () => {
  it.each(BOUNDS)("has the bounds %s for %j", (bounds, names) => {
    const found = rows.filter(([, { buckets = [] }]) => buckets.join(" ") === bounds).map(([name]) => name);
    expect(found.sort()).toEqual([...names].sort());
  });

  it("has upstream's names, types and labels for all metrics but rxlet's own", () => {
    const shared = rows.filter(([name]) => !name.startsWith("rxlet_")).map((row) => line(row).trim());
    expect(shared.sort()).toEqual([...UPSTREAM].sort());
  });

  it("has bounds for histograms only, in ascending order", () => {
    const wrong = rows.filter(([, { type, buckets }]) =>
      type === "histogram"
        ? buckets === undefined || buckets.some((bound, index) => bound <= (buckets[index - 1] ?? -1))
        : buckets !== undefined,
    );
    expect(wrong).toEqual([]);
  });

  it("measures runtime calls with upstream's bounds: 5 ms times 2.5 to the power of n", () => {
    const { buckets } = metricTable.kubelet_runtime_operations_duration_seconds;
    const powers = Array.from({ length: 14 }, (_, n) => 0.005 * 2.5 ** n);
    expect(buckets.map((bound) => bound.toPrecision(12))).toEqual(powers.map((bound) => bound.toPrecision(12)));
  });

  it("names its own counters *_total and durations *_seconds", () => {
    const own = rows.filter(([name]) => name.startsWith("rxlet_"));
    const odd = own.filter(
      ([name, { type }]) =>
        (type === "counter") !== name.endsWith("_total") || (type === "histogram") !== name.endsWith("_seconds"),
    );
    expect(odd).toEqual([]);
  });

  it("describes every metric in one sentence", () => {
    expect(rows.filter(([, { help }]) => !/^[A-Z0-9].*\.$/.test(help))).toEqual([]);
  });
});
