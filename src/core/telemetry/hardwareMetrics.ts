/** Metrics of the plugin, device, CPU, memory and topology managers and of the pod resources API, with upstream's names. */
import { DEFAULT_BUCKETS, type MetricRow } from "./metricRow.ts";

export const hardwareMetrics = {
  plugin_manager_total_plugins: {
    type: "gauge",
    help: "Sockets of plugins: those that exist (desired) and those whose plugin is registered (actual).",
    labels: ["socket_path", "state"],
  },
  kubelet_device_plugin_registration_total: {
    type: "counter",
    help: "Registrations of device plugins.",
    labels: ["resource_name"],
  },
  kubelet_device_plugin_alloc_duration_seconds: {
    type: "histogram",
    help: "Time that device plugins take to prepare the devices of a container.",
    labels: ["resource_name"],
    buckets: DEFAULT_BUCKETS,
  },
  kubelet_cpu_manager_pinning_requests_total: {
    type: "counter",
    help: "Containers that asked for CPUs of their own.",
    labels: [],
  },
  kubelet_cpu_manager_pinning_errors_total: {
    type: "counter",
    help: "Pods rejected because a container could not get CPUs of its own.",
    labels: [],
  },
  kubelet_cpu_manager_shared_pool_size_millicores: {
    type: "gauge",
    help: "CPUs that can still be given to containers, in thousandths of a core.",
    labels: [],
  },
  kubelet_cpu_manager_exclusive_cpu_allocation_count: {
    type: "gauge",
    help: "CPUs that containers have for themselves.",
    labels: [],
  },
  kubelet_cpu_manager_allocation_per_numa: {
    type: "gauge",
    help: "CPUs of each NUMA node that containers have for themselves.",
    labels: ["numa_node"],
  },
  kubelet_pod_resources_endpoint_requests_total: {
    type: "counter",
    help: "Requests to the pod resources API.",
    labels: ["server_api_version"],
  },
  kubelet_pod_resources_endpoint_requests_list: {
    type: "counter",
    help: "Requests for the resources of all pods.",
    labels: ["server_api_version"],
  },
  kubelet_pod_resources_endpoint_requests_get_allocatable: {
    type: "counter",
    help: "Requests for the resources that pods can have.",
    labels: ["server_api_version"],
  },
  kubelet_pod_resources_endpoint_requests_get: {
    type: "counter",
    help: "Requests for the resources of one pod.",
    labels: ["server_api_version"],
  },
  kubelet_pod_resources_endpoint_errors_list: {
    type: "counter",
    help: "Failed requests for the resources of all pods.",
    labels: ["server_api_version"],
  },
  kubelet_pod_resources_endpoint_errors_get_allocatable: {
    type: "counter",
    help: "Failed requests for the resources that pods can have.",
    labels: ["server_api_version"],
  },
  kubelet_pod_resources_endpoint_errors_get: {
    type: "counter",
    help: "Failed requests for the resources of one pod.",
    labels: ["server_api_version"],
  },
  kubelet_pod_watch_events_dropped_total: {
    type: "counter",
    help: "Changes that watchers of the Pods API did not receive, because they fell behind and were disconnected.",
    labels: [],
  },
  kubelet_memory_manager_pinning_requests_total: {
    type: "counter",
    help: "Containers that asked for memory on NUMA nodes of their own.",
    labels: [],
  },
  kubelet_memory_manager_pinning_errors_total: {
    type: "counter",
    help: "Pods rejected because a container could not get memory on NUMA nodes.",
    labels: [],
  },
  kubelet_container_aligned_compute_resources_count: {
    type: "counter",
    help: "Containers, or pods with the scope pod, whose resources are certain to be aligned.",
    labels: ["boundary", "scope"],
  },
  kubelet_container_aligned_compute_resources_failure_count: {
    type: "counter",
    help: "Containers, or pods with the scope pod, whose resources could not be aligned.",
    labels: ["boundary", "scope"],
  },
  kubelet_resource_manager_allocations_total: {
    type: "counter",
    help: "Allocations of CPUs and memory to containers alone, with the gate PodLevelResourceManagers.",
    labels: ["resource_name", "source"],
  },
  kubelet_resource_manager_allocation_errors_total: {
    type: "counter",
    help: "Failed allocations of CPUs and memory to containers alone, with the gate PodLevelResourceManagers.",
    labels: ["resource_name", "source"],
  },
  kubelet_resource_manager_container_assignments: {
    type: "counter",
    help: "Containers by the kind of their CPUs or memory, with the gate PodLevelResourceManagers.",
    labels: ["assignment_type", "resource_name"],
  },
  kubelet_topology_manager_admission_requests_total: {
    type: "counter",
    help: "Pods whose hardware was to be placed.",
    labels: [],
  },
  kubelet_topology_manager_admission_errors_total: {
    type: "counter",
    help: "Pods rejected because their hardware could not be placed.",
    labels: [],
  },
  kubelet_topology_manager_admission_duration_ms: {
    type: "histogram",
    help: "Time to place and give out the hardware of a pod, in milliseconds.",
    labels: [],
    buckets: [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
