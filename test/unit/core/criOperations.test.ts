import { describe, expect, it } from "vitest";
import { criDeadlineMs, operationType } from "../../../src/core/criOperations.ts";
import type { CriRpc } from "../../../src/core/criOperations.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../../../src/gen/cri.ts";

const RPCS: readonly CriRpc[] = [RuntimeServiceDefinition, ImageServiceDefinition].flatMap((definition) =>
  Object.values(definition.methods).map((method) => method.name),
);

describe("operationType", () => {
  it("returns upstream's label for every rpc, with streams counted as their list", () => {
    expect(RPCS.map((rpc) => `${rpc} ${operationType(rpc)}`)).toEqual([
      "Version version",
      "Status status",
      "RuntimeConfig runtime_config",
      "UpdateRuntimeConfig update_runtime_config",
      "RunPodSandbox run_podsandbox",
      "StopPodSandbox stop_podsandbox",
      "RemovePodSandbox remove_podsandbox",
      "PodSandboxStatus podsandbox_status",
      "ListPodSandbox list_podsandbox",
      "StreamPodSandboxes list_podsandbox",
      "UpdatePodSandboxResources update_podsandbox_resources",
      "CreateContainer create_container",
      "StartContainer start_container",
      "StopContainer stop_container",
      "RemoveContainer remove_container",
      "ContainerStatus container_status",
      "ListContainers list_containers",
      "StreamContainers list_containers",
      "UpdateContainerResources update_container",
      "ReopenContainerLog reopen_container_log",
      "CheckpointContainer checkpoint_container",
      "ExecSync exec_sync",
      "Exec exec",
      "Attach attach",
      "PortForward port_forward",
      "GetContainerEvents get_container_events",
      "ContainerStats container_stats",
      "ListContainerStats list_container_stats",
      "StreamContainerStats list_container_stats",
      "PodSandboxStats podsandbox_stats",
      "ListPodSandboxStats list_podsandbox_stats",
      "StreamPodSandboxStats list_podsandbox_stats",
      "ListMetricDescriptors list_metric_descriptors",
      "ListPodSandboxMetrics list_podsandbox_metrics",
      "StreamPodSandboxMetrics list_podsandbox_metrics",
      "ImageStatus image_status",
      "PullImage pull_image",
      "RemoveImage remove_image",
      "ListImages list_images",
      "StreamImages list_images",
      "ImageFsInfo image_fs_info",
    ]);
  });
});

describe("criDeadlineMs", () => {
  it.each([
    ["an ordinary call: the default", "StartContainer", {}, 120_000],
    ["a streamed list: the default", "StreamContainers", {}, 120_000],
    ["a sandbox: the default twice", "RunPodSandbox", {}, 240_000],
    ["a stop: its grace period, then the default", "StopContainer", { timeout: 30n }, 150_000],
    ["a stop without grace: the default", "StopContainer", { timeout: 0n }, 120_000],
    ["a stop with a negative grace: the default", "StopContainer", { timeout: -5n }, 120_000],
    ["a stop with a grace of years: what timers can do", "StopContainer", { timeout: 2n ** 62n }, 2 ** 31 - 1],
    ["a checkpoint: its timeout, then the default", "CheckpointContainer", { timeout: 10n }, 130_000],
    ["a command: its timeout, then the default", "ExecSync", { timeout: 1n }, 121_000],
    ["a command without a timeout: the long bound", "ExecSync", { timeout: 0n }, 21_600_000],
    ["an image pull: the long bound", "PullImage", {}, 21_600_000],
    ["the event stream: none", "GetContainerEvents", {}, undefined],
  ] as const)("returns %s", (_rule, rpc, request, expected) => {
    expect(criDeadlineMs(rpc, request, 120_000)).toBe(expected);
  });
});
