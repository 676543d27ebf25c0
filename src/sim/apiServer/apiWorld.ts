/** State that the verbs of a simulated API server share: its store, its watch caches, its clock and its ids. */
import { Subject } from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import { epochMs } from "../../core/ids.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Prng } from "../prng.ts";
import type { ObjectWorld } from "../../core/apiObjects/reads.ts";
import { createStore, type StoreChange } from "../../core/apiObjects/store.ts";
import { fieldAt, keyOf, refOf, type StoredObject } from "../../core/apiObjects/storedObject.ts";
import { createWatchCache, type WatchCache } from "../../core/apiObjects/watchCache.ts";

export interface ApiWorld extends ObjectWorld {
  readonly clock: Clock;
  readonly ids: Prng;
  readonly changes$: Subject<StoreChange>;
  /** Returns the server's wall clock as RFC 3339, so many seconds from now. */
  now(plusSeconds?: number): string;
  /** Removes events without a write for an hour. */
  forgetOldEvents(): void;
  /** Forgets the history of every resource: clients that are behind have to list again. */
  forgetHistory(): void;
  /** Returns a random suffix for a generated name. */
  suffix(): string;
}

const SUFFIX_LETTERS = [..."bcdfghjklmnpqrstvwxz2456789"];
const SUFFIX_LENGTH = 5;
const MS_PER_SECOND = 1000;
const FIRST_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/**
 * Creates the state of a server with the namespaces every cluster has. `windowSize`: changes a watch cache remembers.
 */
export function createApiWorld(clock: Clock, ids: Prng, windowSize: number): ApiWorld {
  const caches = new Map<ApiResourceName, WatchCache>();
  let forgottenTo = 0;
  const cache = (resource: ApiResourceName): WatchCache => {
    const known = caches.get(resource);
    if (known !== undefined) return known;
    const made = createWatchCache(resource, windowSize);
    made.forget(forgottenTo);
    caches.set(resource, made);
    return made;
  };
  const changes$ = new Subject<StoreChange>();
  const podKeys = createPodIndex();
  const events = createEventLives(clock);
  const store = createStore((change) => {
    if (change.resource === "pods") podKeys.record(change);
    if (change.resource === "events") events.record(change);
    cache(change.resource).record(change);
    changes$.next(change);
  });
  const world: ApiWorld = {
    clock,
    ids,
    store,
    changes$,
    cache,
    now: (plusSeconds = 0) => formatInstant(epochMs(clock.wallTime() + plusSeconds * MS_PER_SECOND)),
    podsOn: (nodeName) => podKeys.on(nodeName).flatMap((key) => store.get("pods", key) ?? []),
    forgetOldEvents() {
      for (const { key, revision } of events.over()) {
        const event = store.get("events", key);
        if (event?.metadata.resourceVersion === String(revision)) store.remove("events", event);
      }
    },
    forgetHistory() {
      forgottenTo = store.revision;
      for (const each of caches.values()) each.forget(forgottenTo);
    },
    suffix: () => Array.from({ length: SUFFIX_LENGTH }, () => ids.pick(SUFFIX_LETTERS)).join(""),
  };
  for (const name of FIRST_NAMESPACES) store.put("namespaces", namespaceObject(world, name));
  return world;
}

/** Indexes the pods by their node. */
function createPodIndex() {
  const keys = new Map<string, Set<string>>();
  const nodeOf = (pod: StoredObject): string => String(fieldAt(pod, "spec.nodeName") ?? "");
  return {
    record({ type, object }: StoreChange) {
      const node = nodeOf(object);
      const here = keys.get(node) ?? new Set<string>();
      if (type === "DELETED") here.delete(keyOf(refOf(object)));
      else here.add(keyOf(refOf(object)));
      if (type === "MODIFIED" && node !== "") keys.get("")?.delete(keyOf(refOf(object)));
      if (here.size > 0) keys.set(node, here);
      else keys.delete(node);
    },
    on: (nodeName: string): readonly string[] => [...(keys.get(nodeName) ?? [])],
  };
}

const EVENT_LIFE_MS = 3_600_000;

interface EventWrite {
  readonly key: string;
  readonly revision: number;
  readonly atMs: number;
}

/** Writes of events, oldest first, until they expire. */
function createEventLives(clock: Clock) {
  let writes: EventWrite[] = [];
  return {
    record({ type, object, revision }: StoreChange) {
      if (type !== "DELETED") writes.push({ key: keyOf(refOf(object)), revision, atMs: clock.monotonicMs() });
    },
    over(): readonly EventWrite[] {
      const endedAtMs = clock.monotonicMs() - EVENT_LIFE_MS;
      const first = writes.findIndex(({ atMs }) => atMs > endedAtMs);
      const over = first < 0 ? writes : writes.slice(0, first);
      if (over.length > 0) writes = first < 0 ? [] : writes.slice(first);
      return over;
    },
  };
}

function namespaceObject(world: ApiWorld, name: string): StoredObject {
  const labels = { "kubernetes.io/metadata.name": name };
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels, uid: world.ids.uuid(), creationTimestamp: world.now(), resourceVersion: "" },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  };
}
