/**
 * The pod writer's knowledge of each object name: the state on both sides, responses of the API server that are newer
 * than the reflector's state, and the last writes. Owned by the pod writer; no cell. Bound: one memory per name of a
 * pod of this node.
 */
import { podWritePriority, type PodWriteView, type SyncedStatus } from "../../core/api/podWrite.ts";
import { isNewerVersion } from "../../core/api/resourceVersion.ts";
import type { ApiPod, ApiPodObjects } from "../../core/api/apiPodObjects.ts";
import type { PodStatus } from "../../core/api.ts";
import type { MonotonicMs, PodUid } from "../../core/ids.ts";
import { sameItems } from "../../core/sameValue.ts";
import type { Urgent } from "../../core/workQueue.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { createRecordsByName, nameOf } from "./recordsByName.ts";

/** An object that the API server removed, or did not find. */
export interface GoneObject {
  readonly uid: string;
  /**
   * The version that a request did not find. A proxy may have answered: a newer version of the object is there after
   * all, and so is this one if the reflector still has it at that time. undefined: the server removed the object.
   */
  readonly missed?: { readonly version: string; readonly untilMs: number };
}

/** The memory of one name. */
export interface PodWriterMemory {
  /** Inputs of the last decision: equal inputs lead to the same decision. */
  seen: readonly unknown[];
  /** The answer to a request; used until the reflector has reached its version. */
  answered: ApiPod | undefined;
  /** An object that has gone, even if the reflector still has it. */
  gone: GoneObject | undefined;
  /** Set after a failed request with an unknown outcome: a GET precedes the next write. */
  isInDoubt: boolean;
  synced: (SyncedStatus & { readonly atMs: MonotonicMs }) | undefined;
  /** First statuses reported by this kubelet, by pod UID. */
  readonly first: Map<PodUid, PodStatus>;
  /** Time since which a status differs from the server's. */
  changedAtMs: MonotonicMs | undefined;
}

export interface PodWriterMemories {
  of(name: string): PodWriterMemory;
  view(name: string): PodWriteView;
  /** Returns in how many milliseconds an object that was not found counts as there again; undefined: none does. */
  hiddenForMs(name: string): number | undefined;
  /** Drops the memory of a name that neither side has any more. */
  forgetGone(name: string): void;
  /** Returns the names whose inputs changed since their last comparison; compares all names. */
  changed(): readonly Urgent<string>[];
  /** Does the same when only the registry changed; compares only the names of records that are new, changed or gone. */
  changedRecords(): readonly Urgent<string>[];
  /** Does the same when only API objects changed, usually by our own write; compares only their names. */
  changedObjects(): readonly Urgent<string>[];
  /** Does the same when only the status of this pod changed; compares only its name. */
  changedStatus(uid: PodUid): readonly Urgent<string>[];
}

type Cells = Pick<NodeView, "registry" | "podStatuses" | "apiPodObjects" | "sourcesSeen">;

const newMemory = (): PodWriterMemory => ({
  seen: [],
  answered: undefined,
  gone: undefined,
  isInDoubt: false,
  synced: undefined,
  first: new Map(),
  changedAtMs: undefined,
});

/** Returns the response to the last write until the reflector has reached its version. */
const unseenAnswer = ({ answered }: PodWriterMemory, reported: ApiPodObjects): ApiPod | undefined =>
  answered !== undefined && isNewerVersion(answered.metadata?.resourceVersion ?? "", reported.version)
    ? answered
    : undefined;

/** Returns the object of this name in its newest known version, whether it has gone or not. */
const newestObject = (memory: PodWriterMemory, name: string, reported: ApiPodObjects): ApiPod | undefined =>
  unseenAnswer(memory, reported) ?? reported.byName.get(name);

function hasGone({ gone }: PodWriterMemory, { metadata }: ApiPod, now: number): boolean {
  if (gone === undefined || metadata?.uid !== gone.uid) return false;
  const { missed } = gone;
  return (
    missed === undefined || (now < missed.untilMs && !isNewerVersion(metadata.resourceVersion ?? "", missed.version))
  );
}

/** Returns the names of objects that are new, changed or gone. */
function changedNames(before: ApiPodObjects["byName"], now: ApiPodObjects["byName"]): Set<string> {
  const names = new Set<string>();
  let stayed = 0;
  for (const [name, object] of now) {
    const known = before.get(name);
    if (known !== undefined) stayed += 1;
    if (known !== object) names.add(name);
  }
  if (stayed < before.size) for (const name of before.keys()) if (!now.has(name)) names.add(name);
  return names;
}

/** Returns what both sides have of a name. */
function memoryViews(
  { registry, podStatuses, apiPodObjects, sourcesSeen }: Cells,
  clock: Clock,
  records: Pick<ReturnType<typeof createRecordsByName>, "of">,
  of: PodWriterMemories["of"],
) {
  const view = (name: string): PodWriteView => {
    const memory = of(name);
    const now = clock.monotonicMs();
    const object = newestObject(memory, name, apiPodObjects.value);
    return {
      object: object === undefined || hasGone(memory, object, now) ? undefined : object,
      records: records.of(name),
      statusOf: (uid) => podStatuses.get(uid),
      firstStatusOf: (uid) => memory.first.get(uid),
      synced: memory.synced,
      isReported: sourcesSeen.value.has("api"),
      isSettled: registry.value.isSettled,
      now,
    };
  };
  return {
    view,
    hiddenForMs(name: string): number | undefined {
      const memory = of(name);
      const { untilMs } = memory.gone?.missed ?? {};
      const object = newestObject(memory, name, apiPodObjects.value);
      const now = clock.monotonicMs();
      return object === undefined || untilMs === undefined || !hasGone(memory, object, now) ? undefined : untilMs - now;
    },
    /**
     * Whether neither side has the name any more. An object that has gone is remembered while the reflector has it, or
     * has yet to reach the version that a request created: its events would cause another request.
     */
    isOver(name: string, { object, records }: PodWriteView): boolean {
      const memory = of(name);
      if (object !== undefined || records.length > 0 || memory.isInDoubt) return false;
      return newestObject(memory, name, apiPodObjects.value) === undefined;
    },
  };
}

/** Creates the memories of a node's pod writer, empty. */
export function createPodWriterMemories(cells: Cells, clock: Clock): PodWriterMemories {
  const { registry, podStatuses, apiPodObjects } = cells;
  const memories = new Map<string, PodWriterMemory>();
  const of = (name: string): PodWriterMemory => {
    const memory = memories.get(name) ?? newMemory();
    memories.set(name, memory);
    return memory;
  };
  const recordsByName = createRecordsByName(registry);
  /** Whether the registry was settled at the last comparison. */
  let wasSettled = registry.value.isSettled;
  /** The API objects at the last comparison. */
  let lastReported: ApiPodObjects["byName"] = new Map();
  const { view, hiddenForMs, isOver } = memoryViews(cells, clock, recordsByName, of);
  const look = (name: string): Urgent<string> | undefined => {
    const memory = of(name);
    memory.answered = unseenAnswer(memory, apiPodObjects.value);
    const seen = view(name);
    const { object, records, isReported, isSettled } = seen;
    if (isOver(name, seen)) {
      memories.delete(name);
      return undefined;
    }
    noteStatuses(memory, seen);
    const statuses = records.map(({ identity }) => podStatuses.get(identity.uid));
    const parts = [object, isReported, isSettled, ...records, ...statuses];
    if (sameItems(parts, memory.seen)) return undefined;
    memory.seen = parts;
    return { key: name, priority: podWritePriority(seen) };
  };
  const changed = (): readonly Urgent<string>[] => {
    lastReported = apiPodObjects.value.byName;
    const names = new Set([...recordsByName.names(), ...lastReported.keys(), ...memories.keys()]);
    return [...names].flatMap((name) => look(name) ?? []);
  };
  return {
    of,
    view,
    hiddenForMs,
    forgetGone(name) {
      if (isOver(name, view(name))) memories.delete(name);
    },
    changed,
    changedRecords() {
      const names = recordsByName.changed();
      const before = wasSettled;
      wasSettled = registry.value.isSettled;
      return wasSettled === before ? names.flatMap((name) => look(name) ?? []) : changed();
    },
    changedObjects() {
      const before = lastReported;
      lastReported = apiPodObjects.value.byName;
      const names = changedNames(before, lastReported);
      for (const [name, { answered }] of memories) if (answered !== undefined) names.add(name);
      return [...names].flatMap((name) => look(name) ?? []);
    },
    changedStatus(uid) {
      const record = registry.value.records.get(uid);
      return record === undefined ? [] : [look(nameOf(record)) ?? []].flat();
    },
  };
}

function noteStatuses(memory: PodWriterMemory, { records, statusOf, now }: PodWriteView): void {
  for (const { identity } of records) {
    const status = statusOf(identity.uid);
    if (status === undefined) continue;
    if (!memory.first.has(identity.uid)) memory.first.set(identity.uid, status);
    if (memory.synced?.status !== status) memory.changedAtMs ??= now;
  }
  for (const uid of memory.first.keys()) {
    if (!records.some(({ identity }) => identity.uid === uid)) memory.first.delete(uid);
  }
}
