/** The start of a span, and the spans of pods and of garbage collection. Names and attributes are upstream's. */
import type { PodIdentity } from "../pod/podRegistry.ts";
import type { SpanContext } from "./spanContext.ts";

/** The side of a span in a call; "internal" is neither. */
export type SpanKind = "internal" | "client" | "server";

/** Attributes of a span or of one of its events. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** The start of a span. */
export interface SpanStart {
  readonly name: string;
  /** Instrumentation scope: the part of the kubelet that reports the span. */
  readonly scope: string;
  /** Default: internal. */
  readonly kind?: SpanKind;
  /** Absent: the span begins a trace. */
  readonly parent?: SpanContext | undefined;
  /** Spans of other traces that caused this one. */
  readonly links?: readonly SpanContext[];
  readonly attributes?: SpanAttributes;
}

/** Scope of spans of calls and requests, for which upstream has the scopes of its instrumentation libraries. */
export const CALL_SCOPE = "rxlet";

const KUBELET_SCOPE = "k8s.io/kubernetes/pkg/kubelet";

/** Returns the span of a phase's work on a pod. Upstream: SyncPod, SyncTerminatingPod and SyncTerminatedPod. */
export const podSpan = (
  name: "syncPod" | "syncTerminatingPod" | "syncTerminatedPod",
  { uid, namespace, name: podName }: PodIdentity,
  updateType?: string,
): SpanStart => ({
  name,
  scope: KUBELET_SCOPE,
  attributes: {
    "k8s.pod.uid": uid,
    "k8s.pod": `${namespace}/${podName}`,
    "k8s.pod.name": podName,
    ...(updateType === undefined ? {} : { "k8s.pod.update_type": updateType }),
    "k8s.namespace.name": namespace,
  },
});

/** A round of container garbage collection. */
export const CONTAINER_GC_SPAN: SpanStart = {
  name: "Containers/GarbageCollect",
  scope: `${KUBELET_SCOPE}/kuberuntime`,
};

/** A round of image garbage collection. */
export const IMAGE_GC_SPAN: SpanStart = { name: "Images/GarbageCollect", scope: `${KUBELET_SCOPE}/images` };
