/**
 * Static and critical pods, which the node prefers at admission and eviction. Upstream:
 * pkg/kubelet/types/pod_update.go.
 */
import type { Pod } from "../api.ts";

/** Lowest priority of critical pods: the built-in system classes. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const SYSTEM_NODE_CRITICAL = "system-node-critical";
const CONFIG_SOURCE = "kubernetes.io/config.source";
const CONFIG_MIRROR = "kubernetes.io/config.mirror";

/** Whether the pod comes from a file or URL. A pod without the source annotation does not count as static. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata.annotations?.[CONFIG_SOURCE];
  return source !== undefined && source !== "api";
}

/** Whether the pod is static, a mirror pod, or of a system priority class. */
export function isCriticalPod(pod: Pod): boolean {
  if (isStaticPod(pod) || pod.metadata.annotations?.[CONFIG_MIRROR] !== undefined) return true;
  return (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Whether the pod is critical and of class system-node-critical, which gives it the lowest OOM score. */
export const isNodeCriticalPod = (pod: Pod): boolean =>
  isCriticalPod(pod) && pod.spec.priorityClassName === SYSTEM_NODE_CRITICAL;
