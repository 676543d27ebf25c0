/** Names and texts of a node shutdown that other programs read. Upstream: pkg/kubelet/nodeshutdown. */

/** Reason of a pod that is refused because the node shuts down. */
export const NODE_SHUTDOWN_REASON = "NodeShutdown";
/** Message of such a pod. */
export const NODE_SHUTDOWN_MESSAGE = "Pod was rejected as the node is shutting down.";
/** Part of the message of the condition Ready. */
export const SHUTTING_DOWN = "node is shutting down";
/** Reason and messages of the events of the Node. */
export const SHUTDOWN_EVENT = "Shutdown";
export const SHUTDOWN_DETECTED = "Shutdown manager detected shutdown event";
export const SHUTDOWN_CANCELLED = "Shutdown manager detected shutdown cancellation";
