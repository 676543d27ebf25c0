/** Maps CRI container states and orders sandboxes and containers. */
import { ContainerState } from "../../gen/cri.ts";
import type { RuntimeContainerState } from "./podRuntimeStatus.ts";

/** Maps a CRI container state. Unrecognized numbers become `unknown`. */
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
 * Compares for newest-first order: by attempt, which only grows within a pod, then by creation time. Differs from
 * upstream, which compares creation time first: if the runtime's wall clock is set back between two attempts, the older
 * one would seem to be current.
 */
export function newestFirst(a: Ordered, b: Ordered): number {
  if (a.attempt !== b.attempt) return b.attempt - a.attempt;
  return a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;
}
