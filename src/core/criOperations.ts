/**
 * Metric label and deadline of each CRI rpc.
 * Upstream: kuberuntime's instrumented services and the remote runtime's timeouts.
 */
import type { ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri.ts";

type RpcOf<Methods extends Readonly<Record<string, { readonly name: string }>>> = Methods[keyof Methods]["name"];

/** Name of a CRI v1 rpc as the protocol spells it, for example `RunPodSandbox`. */
export type CriRpc = RpcOf<RuntimeServiceDefinition["methods"]> | RpcOf<ImageServiceDefinition["methods"]>;

/** Streaming lists count as the list they replace, as upstream. */
const OPERATION_TYPE: Readonly<Record<CriRpc, string>> = {
  Version: "version",
  Status: "status",
  RuntimeConfig: "runtime_config",
  UpdateRuntimeConfig: "update_runtime_config",
  RunPodSandbox: "run_podsandbox",
  StopPodSandbox: "stop_podsandbox",
  RemovePodSandbox: "remove_podsandbox",
  PodSandboxStatus: "podsandbox_status",
  ListPodSandbox: "list_podsandbox",
  StreamPodSandboxes: "list_podsandbox",
  UpdatePodSandboxResources: "update_podsandbox_resources",
  CreateContainer: "create_container",
  StartContainer: "start_container",
  StopContainer: "stop_container",
  RemoveContainer: "remove_container",
  ContainerStatus: "container_status",
  ListContainers: "list_containers",
  StreamContainers: "list_containers",
  UpdateContainerResources: "update_container",
  ReopenContainerLog: "reopen_container_log",
  CheckpointContainer: "checkpoint_container",
  ExecSync: "exec_sync",
  Exec: "exec",
  Attach: "attach",
  PortForward: "port_forward",
  GetContainerEvents: "get_container_events",
  ContainerStats: "container_stats",
  ListContainerStats: "list_container_stats",
  StreamContainerStats: "list_container_stats",
  PodSandboxStats: "podsandbox_stats",
  ListPodSandboxStats: "list_podsandbox_stats",
  StreamPodSandboxStats: "list_podsandbox_stats",
  ListMetricDescriptors: "list_metric_descriptors",
  ListPodSandboxMetrics: "list_podsandbox_metrics",
  StreamPodSandboxMetrics: "list_podsandbox_metrics",
  ListImages: "list_images",
  StreamImages: "list_images",
  ImageStatus: "image_status",
  PullImage: "pull_image",
  RemoveImage: "remove_image",
  ImageFsInfo: "image_fs_info",
};

/** Returns the value of the label `operation_type` of `kubelet_runtime_operations_*`. */
export const operationType = (rpc: CriRpc): string => OPERATION_TYPE[rpc];

/**
 * Deadline in milliseconds of calls whose duration depends on the user: image pulls, and commands without a timeout.
 * Differs from upstream: upstream has none, so a runtime that loses such a call blocks its pod until a restart.
 */
export const LONG_CALL_DEADLINE_MS = 6 * 60 * 60 * 1000;

/** gRPC on Node measures deadlines with 32-bit timers. */
const LONGEST_DEADLINE_MS = 2 ** 31 - 1;

/**
 * Returns the deadline of a call in milliseconds. A call whose request has a timeout gets that timeout plus the
 * default; starting a sandbox gets twice the default, since it includes network setup. undefined: an endless stream,
 * bounded by its subscription.
 */
export function criDeadlineMs(rpc: CriRpc, request: unknown, defaultMs: number): number | undefined {
  switch (rpc) {
    case "GetContainerEvents":
      return undefined;
    case "PullImage":
      return LONG_CALL_DEADLINE_MS;
    case "RunPodSandbox":
      return Math.min(2 * defaultMs, LONGEST_DEADLINE_MS);
    case "StopContainer":
    case "CheckpointContainer":
      return waitThen(requestedTimeoutMs(request), defaultMs);
    case "ExecSync": {
      const timeoutMs = requestedTimeoutMs(request);
      return timeoutMs === 0 ? LONG_CALL_DEADLINE_MS : waitThen(timeoutMs, defaultMs);
    }
    default:
      return defaultMs;
  }
}

const waitThen = (timeoutMs: number, defaultMs: number): number => Math.min(timeoutMs + defaultMs, LONGEST_DEADLINE_MS);

/** Returns the request's `timeout` (seconds on the wire) in milliseconds; negative counts as zero. */
function requestedTimeoutMs(request: unknown): number {
  const seconds = (request as { readonly timeout?: bigint }).timeout ?? 0n;
  return Math.max(0, Number(seconds) * 1000);
}
