/**
 * ConfigMaps and Secrets fetched on demand: the change detection strategies `Cache`, which keeps a response for a time,
 * and `Get`, which does not. Owns the cached responses. Bounds: referenced objects; one request per object. Upstream:
 * cache_based_manager.go, and the simple managers of pkg/kubelet/{configmap,secret}.
 */
import { catchError, defer, EMPTY, finalize, map, type Observable, of, Subject } from "rxjs";
import { CONFIG_RESOURCES, configLookupOf, notRegistered } from "../core/api/configLookup.ts";
import { isNewerVersion } from "../core/api/resourceVersion.ts";
import { type ConfigLookup, type ManifestObjectKey, objectKey } from "../core/configObjects.ts";
import { toKubeletError } from "../core/errors.ts";
import { shareByKey } from "../operators/shareByKey.ts";
import type { ApiServer } from "../ports/apiServer.ts";
import type { Clock } from "../ports/clock.ts";
import type { ConfigObjectRef, ObjectCache } from "../ports/objectCache.ts";
import type { Shedding } from "../ports/shedding.ts";

export interface FetchedObjectsOptions {
  readonly api: Pick<ApiServer, "get">;
  readonly clock: Clock;
  /** Lifetime of a response, evaluated at each lookup; undefined: nothing is cached. */
  readonly ttlMs: () => number | undefined;
  readonly shedding?: Shedding | undefined;
}

interface Item {
  readonly ref: ConfigObjectRef;
  followers: number;
  readonly changes$: Subject<ConfigLookup>;
  /** Dropped when another pod starts to reference the object. */
  kept: { readonly lookup: ConfigLookup; readonly at: number } | undefined;
}

/** Creates the cache. Sends no request before `get`. */
export function createFetchedObjects({ api, clock, ttlMs, shedding }: FetchedObjectsOptions): ObjectCache {
  const items = new Map<ManifestObjectKey, Item>();
  shedding?.register({
    name: "objects of pods",
    kind: "caches",
    shed: () => {
      const kept = [...items.values()].filter((item) => item.kept !== undefined);
      for (const item of kept) item.kept = undefined;
      return kept.length;
    },
  });
  const requests = shareByKey<ManifestObjectKey, ConfigLookup>({
    start: (key) => {
      const item = items.get(key);
      return item === undefined ? EMPTY : fetch(api, item.ref, item.kept?.lookup.kind === "found");
    },
  });
  const keep = (key: ManifestObjectKey, fetched: ConfigLookup): ConfigLookup => {
    const item = items.get(key);
    const before = item?.kept?.lookup;
    // The cached object stays if the request failed, or if the response is older.
    if (before !== undefined && (fetched.kind === "unknown" || isOlder(fetched, before))) return before;
    if (item === undefined || fetched.kind === "unknown") return fetched;
    if (ttlMs() !== undefined) item.kept = { lookup: fetched, at: clock.monotonicMs() };
    item.changes$.next(fetched);
    return fetched;
  };
  const isFresh = ({ kept }: Item): boolean =>
    kept?.lookup.kind === "found" && clock.monotonicMs() < kept.at + (ttlMs() ?? 0);
  return {
    follow: (ref) =>
      defer(() => {
        const key = keyOf(ref);
        const item = items.get(key) ?? { ref, followers: 0, changes$: new Subject<ConfigLookup>(), kept: undefined };
        items.set(key, item);
        item.followers += 1;
        item.kept = undefined;
        return item.changes$.pipe(
          finalize(() => {
            item.followers -= 1;
            if (item.followers === 0) items.delete(key);
          }),
        );
      }),
    get: (ref) =>
      defer(() => {
        const key = keyOf(ref);
        const item = items.get(key);
        if (item === undefined) {
          return of<ConfigLookup>({ kind: "unknown", error: notRegistered(ref.namespace, ref.name) });
        }
        if (item.kept !== undefined && isFresh(item)) return of(item.kept.lookup);
        return requests.join(key).pipe(map((fetched) => keep(key, fetched)));
      }),
  };
}

const keyOf = ({ kind, namespace, name }: ConfigObjectRef): ManifestObjectKey => objectKey(kind, namespace, name);

/** `isRefresh`: a response from the server's watch cache is enough. */
const fetch = (
  api: Pick<ApiServer, "get">,
  { kind, namespace, name }: ConfigObjectRef,
  isRefresh: boolean,
): Observable<ConfigLookup> =>
  api.get(CONFIG_RESOURCES[kind], { namespace, name }, isRefresh ? { resourceVersion: "0" } : {}).pipe(
    map((object) => configLookupOf(kind, object)),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return of<ConfigLookup>(error.code === "NotFound" ? { kind: "missing" } : { kind: "unknown", error });
    }),
  );

const versionOf = (lookup: ConfigLookup): string =>
  lookup.kind === "found" ? (lookup.object.metadata.resourceVersion ?? "") : "";

const isOlder = (fetched: ConfigLookup, before: ConfigLookup): boolean =>
  fetched.kind === "found" && isNewerVersion(versionOf(before), versionOf(fetched));
