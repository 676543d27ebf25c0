/** Functions of one registry record. */
import { earlierDue, leavingDue } from "../admission/leavingPods.ts";
import type { TakenResources } from "../admission/resourceDecision.ts";
import { heldRequests, takenResources } from "../allocation/heldResources.ts";
import type { PodAllocation } from "../allocation/podAllocation.ts";
import type { Pod } from "../api.ts";
import { type MonotonicMs, type PodUid, podUid } from "../ids.ts";
import { isTerminalPhase } from "./phase.ts";
import type { PodCommand, PodIdentity, PodRecord } from "./podRegistryTypes.ts";
import type { PodsByUid } from "./podUpdate.ts";
import { type PodSource, sourceOf } from "./sourceSnapshot.ts";

/** Returns the pod at its allocated size, or with its spec unchanged before admission. */
export const sizeOf = ({ allocated, pod }: Pick<PodRecord, "allocated" | "pod">): Pod | undefined => allocated ?? pod;

/**
 * Returns the resources that the pod takes or is promised; undefined when there are none, or the allocation is unknown.
 */
export function resourcesOfRecord(record: PodRecord): TakenResources | undefined {
  const { pod, allocated, held, state, successor, leaving } = record;
  const promised = state === "syncing" && record.behind.length > 0 ? pod : successor;
  const promise = promised === undefined ? {} : { promised };
  const isActive = state === "syncing" || state === "terminating";
  if (allocated === undefined || !isActive || isTerminalPhase(pod?.status?.phase)) {
    return successor === undefined ? undefined : promise;
  }
  const resources = takenResources(allocated, held);
  return leaving === undefined ? { ...resources, ...promise } : { held: resources.held, leaving, ...promise };
}

/**
 * Returns the record with this size granted. Until the checkpoint is on disk, the pod also holds what it took before.
 */
export const withGrant = (record: PodRecord, pod: Pod): PodRecord => ({
  ...record,
  allocated: pod,
  behind: [],
  held: heldRequests(resourcesOfRecord(record)?.held ?? pod, pod),
});

/** Returns the identity of a pod. */
export const identityOf = (pod: Pod): PodIdentity => ({
  uid: podUid(pod.metadata.uid),
  name: pod.metadata.name,
  namespace: pod.metadata.namespace,
});

/** Returns the record of a pod before admission. */
export const freshRecord = (identity: PodIdentity): PodRecord => ({
  identity,
  pod: undefined,
  allocated: undefined,
  held: undefined,
  hardware: undefined,
  preparation: undefined,
  refused: undefined,
  state: "waiting",
  wanted: true,
  evicted: false,
  graceSeconds: undefined,
  override: undefined,
  reclaimed: false,
  leaving: undefined,
  behind: [],
  waitsSince: undefined,
  victims: [],
  successor: undefined,
});

/**
 * Whether the pod starts again from its stopped containers, whose restarts it goes on to count: its source added it again while
 * it stopped, the node itself had not ended it, and all of its containers restart after any exit. Upstream: the containers of
 * a removed static pod stay until the next garbage collection.
 */
const startsAgain = ({ successor, override }: PodRecord): boolean =>
  successor !== undefined &&
  override === undefined &&
  successor.spec.containers.every(
    (spec) => (spec.restartPolicy ?? successor.spec.restartPolicy ?? "Always") === "Always",
  );

/** Returns the command for a pod that has stopped. */
export const terminatedCommand = (record: PodRecord): PodCommand => ({
  phase: "terminated",
  identity: record.identity,
  pod: sizeOf(record),
  remove: !record.wanted,
  startsAgain: startsAgain(record),
});

/** Returns the command that makes the worker run the pod; undefined before admission. */
export function syncCommand(
  { identity, allocated: pod, refused, hardware }: PodRecord,
  restored: PodAllocation | undefined,
): (PodCommand & { readonly phase: "sync" }) | undefined {
  if (pod === undefined) return undefined;
  return {
    phase: "sync",
    identity,
    pod,
    ...(hardware === undefined ? {} : { hardware }),
    ...(refused === undefined ? {} : { refused }),
    ...(restored === undefined ? {} : { restoredSize: restored }),
  };
}

/** Returns the record terminating with this grace period. The earlier of two due times counts. */
export function terminatingRecord(record: PodRecord, graceSeconds: number, now: MonotonicMs): PodRecord {
  const due = earlierDue(record.leaving?.due, leavingDue(graceSeconds, now));
  const leaving = { overdueFor: undefined, ...record.leaving, due };
  return { ...record, state: "terminating", graceSeconds, leaving, behind: [] };
}

/** Returns the pods that a source wants, as far as the records know. */
export const podsOfSource = (records: ReadonlyMap<PodUid, PodRecord>, source: PodSource): PodsByUid =>
  new Map(
    [...records].flatMap(([uid, { pod, wanted, successor }]) => {
      const known = successor ?? (wanted ? pod : undefined);
      return known !== undefined && sourceOf(known) === source ? [[uid, known] as const] : [];
    }),
  );
