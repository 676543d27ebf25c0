/** Interface through which the eviction manager frees disk space without ending a pod; garbageCollection.ts implements it. */
import type { Observable } from "rxjs";

/**
 * Each call completes when it is done, within a bounded time, whether or not it freed anything. Emits nothing and never
 * errors.
 */
export interface NodeReclaim {
  /** Removes unpinned images above the minimum age that no container and no pod uses. Upstream: DeleteUnusedImages. */
  deleteUnusedImages(): Observable<void>;
  /** Removes dead containers, also all those of pods that have stopped. Upstream: DeleteAllUnusedContainers. */
  deleteUnusedContainers(): Observable<void>;
}
