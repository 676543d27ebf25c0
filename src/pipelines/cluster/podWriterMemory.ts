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

/** The memory of one name. */
export interface PodWriterMemory {
  /** Inputs of the last decision: equal inputs lead to the same decision. */
  seen: readonly unknown[];
  /** The answer to a request; used until the reflector has reached its version. */
  answered: ApiPod | undefined;
  /** UID of a removed object, even if the reflector still has it. */
  goneUid: string | undefined;
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
  goneUid: undefined,
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

/** Returns the object of this name in its newest known version; undefined once its deletion is known. */
function knownObject(memory: PodWriterMemory, name: string, reported: ApiPodObjects): ApiPod | undefined {
  const object = unseenAnswer(memory, reported) ?? reported.byName.get(name);
  return object !== undefined && object.metadata?.uid === memory.goneUid ? undefined : object;
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

/** Creates the memories of a node's pod writer, empty. */
export function createPodWriterMemories(
  { registry, podStatuses, apiPodObjects, sourcesSeen }: Cells,
  clock: Clock,
): PodWriterMemories {
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
  const view = (name: string): PodWriteView => {
    const memory = of(name);
    return {
      object: knownObject(memory, name, apiPodObjects.value),
      records: recordsByName.of(name),
      statusOf: (uid) => podStatuses.get(uid),
      firstStatusOf: (uid) => memory.first.get(uid),
      synced: memory.synced,
      isReported: sourcesSeen.value.has("api"),
      isSettled: registry.value.isSettled,
      now: clock.monotonicMs(),
    };
  };
  const look = (name: string): Urgent<string> | undefined => {
    const memory = of(name);
    memory.answered = unseenAnswer(memory, apiPodObjects.value);
    const seen = view(name);
    const { object, records, isReported, isSettled } = seen;
    if (object === undefined && records.length === 0 && !memory.isInDoubt) {
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
