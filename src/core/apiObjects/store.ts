/**
 * The state of an API server: objects by resource and key, under one revision that each write increments. Owned by one
 * server. Bound: the objects its clients create.
 */
import type { ApiResourceName } from "../api/apiResources.ts";
import { type ApiObject, keyOf, refOf, type StoredObject } from "./storedObject.ts";

/** A write, as the watches of its resource see it. */
export interface StoreChange {
  readonly revision: number;
  readonly resource: ApiResourceName;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The object as written; for a deletion its last state, with the revision of the deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** The objects of all resources. */
export interface Store {
  /** Revision of the newest write. */
  readonly revision: number;
  get(resource: ApiResourceName, key: string): StoredObject | undefined;
  /** All objects of a resource, in creation order. */
  all(resource: ApiResourceName): ReadonlyMap<string, StoredObject>;
  /** Writes an object under a new revision, which becomes its `resourceVersion`. */
  put(resource: ApiResourceName, object: StoredObject): StoredObject;
  /**
   * Removes an object and returns it with the new revision; `lastState` replaces its state when the last change and the
   * removal are one write.
   */
  remove(resource: ApiResourceName, object: StoredObject, lastState?: StoredObject): StoredObject;
}

const withRevision = (object: ApiObject, revision: number): StoredObject =>
  ({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }) as StoredObject;

/** Creates an empty store; `onChange` is called during each write. */
export function createStore(onChange: (change: StoreChange) => void): Store {
  const objects = new Map<ApiResourceName, Map<string, StoredObject>>();
  const of = (resource: ApiResourceName): Map<string, StoredObject> => {
    const known = objects.get(resource);
    if (known !== undefined) return known;
    const made = new Map<string, StoredObject>();
    objects.set(resource, made);
    return made;
  };
  let revision = 1;
  return {
    get revision() {
      return revision;
    },
    get: (resource, key) => of(resource).get(key),
    all: of,
    put(resource, object) {
      revision += 1;
      const key = keyOf(refOf(object));
      const stored = withRevision(object, revision);
      const previous = of(resource).get(key);
      of(resource).set(key, stored);
      onChange({ revision, resource, type: previous === undefined ? "ADDED" : "MODIFIED", object: stored, previous });
      return stored;
    },
    remove(resource, object, lastState = object) {
      revision += 1;
      const removed = withRevision(lastState, revision);
      of(resource).delete(keyOf(refOf(object)));
      onChange({ revision, resource, type: "DELETED", object: removed, previous: object });
      return removed;
    },
  };
}
