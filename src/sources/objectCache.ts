/** Creates the ObjectCache port with the strategy of `configMapAndSecretChangeDetectionStrategy`. */
import type { ObjectCache } from "../ports/objectCache.ts";
import type { ApiServer } from "../ports/apiServer.ts";
import { createFetchedObjects } from "./fetchedObjects.ts";
import { createWatchedObjects, type WatchedObjectsOptions } from "./watchedObjects.ts";

export interface ObjectCacheOptions extends Omit<WatchedObjectsOptions, "idleMs" | "api"> {
  readonly api: Pick<ApiServer, "get" | "list" | "watch">;
  /** `syncFrequency`. */
  readonly syncPeriodMs: number;
  /** Lifetime of an answer from the node's annotation (strategy `Cache`); undefined without the annotation. */
  readonly nodeTtlMs?: () => number | undefined;
}

/** Time for which an answer is valid if the node does not report one. */
const DEFAULT_TTL_MS = 60_000;
/** An unused watch ends after this many sync periods of a pod, but not before a minute. */
const IDLE_SYNCS = 5;
const SHORTEST_IDLE_MS = 60_000;

/** Creates the cache of a strategy: `Watch`, `Cache` or `Get`. */
export function createObjectCache(strategy: string, options: ObjectCacheOptions): ObjectCache {
  const { syncPeriodMs, nodeTtlMs, ...watching } = options;
  switch (strategy) {
    case "Cache":
      return createFetchedObjects({ ...options, ttlMs: () => nodeTtlMs?.() ?? DEFAULT_TTL_MS });
    case "Get":
      return createFetchedObjects({ ...options, ttlMs: () => undefined });
    default:
      return createWatchedObjects({ ...watching, idleMs: Math.max(SHORTEST_IDLE_MS, IDLE_SYNCS * syncPeriodMs) });
  }
}
