/**
 * The mark of a pod that was restored from disk because the API server did not answer at boot. Upstream: none since the
 * bootstrap checkpoint was removed.
 */
import type { Pod } from "../api.ts";

/** The annotation of a restored pod, until the API server has sent the pod. Only the kubelet sets it. */
export const RESTORED_ANNOTATION = "rxlet.dev/restored";

/** Returns the pod with the mark. */
export const markRestored = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [RESTORED_ANNOTATION]: "true" } },
});

/**
 * Whether the pod comes from disk. A manifest cannot pose as one: the mark counts beside the source of API pods alone,
 * and `readApiPod` removes the mark of the API server's pods.
 */
export const isRestored = ({ metadata: { annotations } }: Pod): boolean =>
  annotations?.[RESTORED_ANNOTATION] === "true" && annotations["kubernetes.io/config.source"] === "api";
