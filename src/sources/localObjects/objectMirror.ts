/**
 * A mirror of external objects, with versions of its own: each refresh compares them with the last one, and writes
 * the differences to a store. Owned by its creator. Bound: the existing objects, and WINDOW changes of each resource,
 * after which a watch has to restart.
 */
import { type Observable, Subject } from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import type { ObjectWorld } from "../../core/apiObjects/reads.ts";
import { createStore, type StoreChange } from "../../core/apiObjects/store.ts";
import { type ApiObject, keyOf, refOf, type StoredObject, typeOf } from "../../core/apiObjects/storedObject.ts";
import { createWatchCache, type WatchCache } from "../../core/apiObjects/watchCache.ts";
import { sameValue } from "../../core/sameValue.ts";

/** Reads the current objects of one resource. */
export type Look = () => readonly ApiObject[];

export interface ObjectMirror extends ObjectWorld {
  /** Reads a resource, and stores its changes. */
  refresh(resource: ApiResourceName): void;
  /** Emits each change during the refresh that found it. */
  readonly changes$: Observable<StoreChange>;
}

const WINDOW = 1_000;

/** Creates a mirror of these resources. */
export function createObjectMirror(looks: Readonly<Partial<Record<ApiResourceName, Look>>>): ObjectMirror {
  const caches = new Map<ApiResourceName, WatchCache>();
  const cache = (resource: ApiResourceName): WatchCache => {
    const known = caches.get(resource) ?? createWatchCache(resource, WINDOW);
    caches.set(resource, known);
    return known;
  };
  const changes$ = new Subject<StoreChange>();
  const store = createStore((change) => {
    cache(change.resource).record(change);
    changes$.next(change);
  });
  /** Objects of the last refresh, by key, without the versions that the store adds. */
  const seen = new Map<ApiResourceName, ReadonlyMap<string, ApiObject>>();
  return {
    store,
    cache,
    podsOn: (nodeName) => [...store.all("pods").values()].filter((pod) => nodeOf(pod) === nodeName),
    refresh: (resource) => {
      const before = seen.get(resource) ?? new Map<string, ApiObject>();
      const now = new Map((looks[resource]?.() ?? []).map((object) => [keyOf(refOf(object)), object]));
      seen.set(resource, now);
      for (const [key, object] of before) {
        const stored = store.get(resource, key);
        if (stored !== undefined && now.get(key)?.metadata?.uid !== object.metadata?.uid)
          store.remove(resource, stored);
      }
      for (const [key, object] of now) {
        const previous = before.get(key);
        const isSame = previous !== undefined && store.get(resource, key) !== undefined && sameObject(previous, object);
        if (!isSame) store.put(resource, { ...typeOf(resource), ...object } as StoredObject);
      }
    },
    changes$: changes$.asObservable(),
  };
}

const nodeOf = (pod: StoredObject): unknown => (pod["spec"] as { readonly nodeName?: unknown } | undefined)?.nodeName;

/** Compares by reference first: parts are replaced and never edited, so most are identical. */
const sameObject = (a: ApiObject, b: ApiObject): boolean =>
  a === b ||
  [...new Set([...Object.keys(a), ...Object.keys(b)])].every(
    (field) => a[field] === b[field] || sameValue(a[field], b[field]),
  );
