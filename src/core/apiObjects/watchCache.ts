/**
 * The recent history of one resource and its listeners. Owned by the server. Bound: `windowSize` changes; older ones
 * are dropped, and a client that asks for them gets 410. Listeners are indexed by the field that most selections
 * require, so that a write costs the watches of one node, not of all.
 */
import type { ApiResourceName } from "../api/apiResources.ts";
import type { Selection } from "./selectors.ts";
import type { StoreChange } from "./store.ts";
import { fieldAt, keyOf, refOf, type StoredObject } from "./storedObject.ts";

type Listener = (change: StoreChange) => void;

/** History and listeners of one resource. */
export interface WatchCache {
  record(change: StoreChange): void;
  /** Returns the changes after a revision, oldest first; undefined when some are no longer known. */
  since(revision: number): readonly StoreChange[] | undefined;
  /** Returns the objects at a revision; undefined when it is no longer known. */
  at(revision: number, now: ReadonlyMap<string, StoredObject>): ReadonlyMap<string, StoredObject> | undefined;
  /** Calls the listener for each change that its selection may match; returns a function that removes it. */
  listen(selection: Selection, listener: Listener): () => void;
  /** Drops the history up to and including `revision`. */
  forget(revision: number): void;
}

/** Creates the cache of a resource. */
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
