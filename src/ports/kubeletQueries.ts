/** The kubelet's state as its servers may read it: snapshots, never a stream or a pipeline. */
import type { Node, Pod } from "../core/api.ts";
import type { HardwareView } from "../core/hardwareView/hardwareView.ts";
import type { PressureView } from "../core/eviction/pressureView.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import type { TimelineView } from "../core/timeline/timelineView.ts";
import type { VolumesView } from "../core/volume/volumesView.ts";
import type { AllocatableResourcesResponse, ListPodResourcesResponse, PodResources } from "../gen/podResources.ts";
import type { Call } from "./call.ts";

/** Result of one health check. */
export interface HealthCheck {
  readonly name: string;
  /** undefined when healthy, else the reason. */
  readonly problem: string | undefined;
}

/** Snapshots for the servers, all synchronous except `pressure`. */
export interface KubeletQueries {
  /** Pods bound to this node with their latest status, in admission order. */
  pods(): readonly Pod[];
  /** Whether all sources of pods have reported since the start. */
  arePodsKnown(): boolean;
  /** Current problems of the manifests: per source, ordered by file and line. */
  manifestProblems(): readonly ManifestProblem[];
  /** The same pods in the form an API server shows: static pods carry their creation and deletion timestamps. */
  shownPods(): readonly Pod[];
  /** The Node as the API server has it or, on a standalone node, would have it. */
  node(): Node;
  /** Pods that have sandboxes or containers in the runtime, as last inspected. */
  runtimePods(): readonly PodRuntimeStatus[];
  /** Why the runtime or its network is not ready, in upstream's words; empty when both are. */
  runtimeProblems(): readonly string[];
  /**
   * A pod's history and the conditions it waits for now; undefined when no such pod is, or was recently, on this node.
   */
  timeline(namespace: string, name: string): TimelineView | undefined;
  /** Names of the pods that have a timeline, as `namespace/name`. */
  timelineNames(): readonly string[];
  /** All volumes of the node: desired, actual and left over. */
  volumes(): VolumesView;
  /** Volumes of the pods with one name; undefined when there is no such pod. */
  podVolumes(namespace: string, name: string): VolumesView | undefined;
  /**
   * Measures the pods and lists the images, once for all callers within a second: the eviction signals, and what the node
   * would free or evict first. Never errors.
   */
  pressure(): Call<PressureView>;
  /** CPUs, memory and devices of the node, and the containers that have them. */
  hardware(): HardwareView;
  /** Whether the pods of all sources are known; those from disk count while the API server does not answer. */
  areHoldersKnown(): boolean;
  /** Hardware of the active pods. */
  podResources(): ListPodResourcesResponse;
  /** Hardware of one pod; undefined without an active pod of that name. */
  podResourcesOf(namespace: string, name: string): PodResources | undefined;
  /** Hardware that containers can have for themselves, in use or not. */
  allocatableResources(): AllocatableResourcesResponse;
  /** Checks in upstream's order: ping, log, syncloop, device-plugin. */
  health(): readonly HealthCheck[];
}
