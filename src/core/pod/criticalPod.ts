/** Which pods the node protects above others. Counterpart: pkg/kubelet/types/pod_update.go. */
import type { Pod } from "../api.ts";

/** Priority from which a pod counts as critical: the built-in system classes. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const SYSTEM_NODE_CRITICAL = "system-node-critical";
const CONFIG_SOURCE = "kubernetes.io/config.source";
const CONFIG_MIRROR = "kubernetes.io/config.mirror";

/** True for pods from a file or URL; a pod without the source annotation is not one. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata.annotations?.[CONFIG_SOURCE];
  return source !== undefined && source !== "api";
}

/** True for static pods, their mirrors, and pods of the system priority classes. */
export function isCriticalPod(pod: Pod): boolean {
  if (isStaticPod(pod) || pod.metadata.annotations?.[CONFIG_MIRROR] !== undefined) return true;
  return (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** True for critical pods of class system-node-critical: the last the kernel may kill. */
export const isNodeCriticalPod = (pod: Pod): boolean =>
  isCriticalPod(pod) && pod.spec.priorityClassName === SYSTEM_NODE_CRITICAL;
