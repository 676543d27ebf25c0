/** What the servers may read of the kubelet: snapshots, never a stream, never a pipeline. */
import type { Node, Pod } from "../core/api.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import type { TimelineView } from "../core/timeline/timelineView.ts";
import type { VolumesView } from "../core/volume/volumesView.ts";

export interface HealthCheck {
  readonly name: string;
  /** undefined when well, else the reason why not. */
  readonly problem: string | undefined;
}

export interface KubeletQueries {
  /** Pods bound to this node with their latest status, in the order they were accepted. */
  pods(): readonly Pod[];
  /** What is wrong with the manifests now: of each source in order of files and lines. */
  manifestProblems(): readonly ManifestProblem[];
  /** The same pods as an API server would show them: static pods with the times of their creation and deletion. */
  shownPods(): readonly Pod[];
  /** This node as the API server has it, or would have it. */
  node(): Node;
  /** Pods with something in the runtime, as last inspected. */
  runtimePods(): readonly PodRuntimeStatus[];
  /** What happened to a pod and what it waits for now; undefined when no such pod is, or lately was, here. */
  timeline(namespace: string, name: string): TimelineView | undefined;
  /** The pods that have a timeline, as `namespace/name`. */
  timelineNames(): readonly string[];
  /** All volumes of the node: what pods want, what is there, what is left over. */
  volumes(): VolumesView;
  /** Those of the pods of one name; undefined when there is none. */
  podVolumes(namespace: string, name: string): VolumesView | undefined;
  /** Checks in upstream's order: ping, log, syncloop. */
  health(): readonly HealthCheck[];
}
