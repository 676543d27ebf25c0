/** CRI's container states in the kubelet's words, and the order in which pods list what they had. */
import { ContainerState } from "../../gen/cri.ts";
import type { RuntimeContainerState } from "./podRuntimeStatus.ts";

/** CRI's state of a container in the kubelet's word; a number CRI does not know is `unknown`. */
export function containerStateOf(state: ContainerState): RuntimeContainerState {
  switch (state) {
    case ContainerState.CONTAINER_CREATED:
      return "created";
    case ContainerState.CONTAINER_RUNNING:
      return "running";
    case ContainerState.CONTAINER_EXITED:
      return "exited";
    default:
      return "unknown";
  }
}

interface Ordered {
  readonly createdAt: bigint | number;
  readonly attempt: number;
}

/**
 * Orders newest first: by attempt, which only grows within a pod, then by creation time.
 * Differs from upstream: the runtime's wall clock may have been set back between two attempts, and then the older of
 * the two would pass for what runs.
 */
export function newestFirst(a: Ordered, b: Ordered): number {
  if (a.attempt !== b.attempt) return b.attempt - a.attempt;
  return a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;
}
