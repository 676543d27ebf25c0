/** Frees resources of the node without ending any pod. */
import type { Observable } from "rxjs";

/**
 * Each call completes when it is done, within a bounded time, whether or not it freed anything. Emits nothing and never
 * errors.
 */
export interface NodeReclaim {
  /** Removes images that no container uses. Upstream: DeleteUnusedImages. */
  deleteUnusedImages(): Observable<void>;
  /** Removes exited containers, also those of pods that still exist. Upstream: DeleteAllUnusedContainers. */
  deleteUnusedContainers(): Observable<void>;
}
