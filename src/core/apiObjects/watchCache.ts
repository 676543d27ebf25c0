/**
 * The recent history of one resource and who listens to it. Owned by the server. Bound: `windowSize` changes; what is
 * older is forgotten, and whoever asks for it is told so (410). Listeners are indexed by the one field they insist on,
 * so that a write costs the watches of one node and not those of all.
 */
import type { ApiResourceName } from "../api/apiResources.ts";
import type { Selection } from "./selectors.ts";
import type { StoreChange } from "./store.ts";
import { fieldAt, keyOf, refOf, type StoredObject } from "./storedObject.ts";

type Listener = (change: StoreChange) => void;

export interface WatchCache {
  record(change: StoreChange): void;
  /** Changes after a revision, oldest first; undefined when they are no longer all known. */
  since(revision: number): readonly StoreChange[] | undefined;
  /** What was there at a revision; undefined when that is no longer known. */
  at(revision: number, now: ReadonlyMap<string, StoredObject>): ReadonlyMap<string, StoredObject> | undefined;
  /** Calls the listener for each change that its selection may concern; returns how to end that. */
  listen(selection: Selection, listener: Listener): () => void;
  /** Forgets the history, up to and including `revision`. */
  forget(revision: number): void;
}

/** Makes the cache of a resource. */
export function createWatchCache(resource: ApiResourceName, windowSize: number): WatchCache {
  const field = resource === "pods" ? "spec.nodeName" : "metadata.name";
  const toAll = new Set<Listener>();
  const toOne = new Map<string, Set<Listener>>();
  let history: StoreChange[] = [];
  let forgotten = 0;

  const prune = () => {
    if (history.length < 2 * windowSize) return;
    const kept = history.slice(-windowSize);
    forgotten = history[history.length - windowSize - 1]?.revision ?? forgotten;
    history = kept;
  };
  const since = (revision: number) => {
    if (revision < forgotten) return undefined;
    const from = history.findLastIndex((change) => change.revision <= revision);
    return history.slice(from + 1);
  };
  const concerned = (change: StoreChange): readonly Listener[] => {
    const values = new Set([change.object, change.previous].map((object) => String(fieldAt(object, field) ?? "")));
    return [...toAll, ...[...values].flatMap((value) => [...(toOne.get(value) ?? [])])];
  };
  return {
    record(change) {
      history.push(change);
      prune();
      for (const listener of concerned(change)) listener(change);
    },
    since,
    at(revision, now) {
      const later = since(revision);
      if (later === undefined) return undefined;
      if (later.length === 0) return now;
      const then = new Map(now);
      for (const { object, previous } of later.toReversed()) {
        if (previous === undefined) then.delete(keyOf(refOf(object)));
        else then.set(keyOf(refOf(object)), previous);
      }
      return then;
    },
    listen(selection, listener) {
      const value = selection.required(field);
      const group = value === undefined ? toAll : (toOne.get(value) ?? new Set());
      group.add(listener);
      if (value !== undefined) toOne.set(value, group);
      return () => {
        group.delete(listener);
        if (value !== undefined && group.size === 0) toOne.delete(value);
      };
    },
    forget(revision) {
      history = history.filter((change) => change.revision > revision);
      forgotten = Math.max(forgotten, revision);
    },
  };
}
