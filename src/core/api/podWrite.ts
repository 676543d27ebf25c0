/**
 * Decides the next write to the API server for the pod objects of one name. Pure: the decision depends on the API
 * object, the node's records and the last write.
 * Upstream: syncPod of the status manager, tryReconcileMirrorPods, HandlePodCleanups.
 */
import type { PodStatus } from "../api.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import { isMirrorPod, isOfEarlierLife, mirrorHash } from "../pod/mirrorPod.ts";
import { isStaticPod } from "../pod/criticalPod.ts";
import { isTerminalPhase } from "../pod/phase.ts";
import type { PodRecord } from "../pod/podRegistryTypes.ts";
import type { Pod } from "../api.ts";
import { mergePodStatus, samePodStatus } from "./podStatusMerge.ts";
import { createStatusPatch } from "./statusPatch.ts";
import type { ApiPod } from "./apiPodObjects.ts";

/** A status as it was written to one object. */
export interface SyncedStatus {
  readonly objectUid: string;
  /** The written status, compared by identity. */
  readonly status: PodStatus;
  readonly mayRun: boolean;
}

/** The inputs of the decision about one name. */
export interface PodWriteView {
  /** The API object of that name as last known; undefined when there is none. */
  readonly object: ApiPod | undefined;
  /** The node's pods of that name, with any UID. */
  readonly records: readonly PodRecord[];
  readonly statusOf: (uid: PodUid) => PodStatus | undefined;
  /** The first status that this kubelet reported of the pod. */
  readonly firstStatusOf: (uid: PodUid) => PodStatus | undefined;
  readonly synced: (SyncedStatus & { readonly atMs: MonotonicMs }) | undefined;
  /** The API server has listed its pods at least once. */
  readonly isReported: boolean;
  /** The node knows all its pods, so API objects of unknown pods may be deleted. */
  readonly isSettled: boolean;
  readonly now: MonotonicMs;
}

/** The next action. */
export type PodWrite =
  | { readonly kind: "none"; readonly synced: SyncedStatus | undefined }
  /** No action before this time, unless the view changes. */
  | { readonly kind: "later"; readonly afterMs: number }
  | {
      readonly kind: "status";
      readonly patch: Readonly<Record<string, unknown>>;
      readonly synced: SyncedStatus;
      /** The object as it is after the patch, unless another client has changed it. */
      readonly patched: ApiPod;
    }
  /** The request has grace period 0 and the UID as precondition. */
  | { readonly kind: "delete"; readonly uid: string; readonly isMirror: boolean }
  | { readonly kind: "createMirror"; readonly pod: Pod };

/**
 * Minimum interval in milliseconds between rewrites of a status that another client keeps changing; upstream's
 * syncPeriod.
 */
const REWRITE_MS = 10_000;
/**
 * Minimum interval in milliseconds between statuses of a deleted pod whose containers may still run: its last status usually
 * follows within milliseconds, and replaces these. Upstream sends each.
 */
const LEAVING_MS = 1_000;

const NOTHING: PodWrite = { kind: "none", synced: undefined };

/** Returns the next action. */
export function nextPodWrite(view: PodWriteView): PodWrite {
  const { object, records } = view;
  const mirrored = records.find(isToMirror);
  if (object === undefined) {
    return mirrored?.pod === undefined || !view.isReported ? NOTHING : { kind: "createMirror", pod: mirrored.pod };
  }
  const isMirror = isMirrorPod(object);
  const uid = object.metadata?.uid ?? "";
  const isDeleting = object.metadata?.deletionTimestamp !== undefined && !isOnlyHeld(object);
  const record = recordOf(records, object);
  if (record === undefined) {
    const isStray = isMirror && !isOnlyHeld(object) && (view.isSettled || mirrored !== undefined);
    return isStray ? { kind: "delete", uid, isMirror } : NOTHING;
  }
  // A mirror pod cannot be deleted gracefully: it is deleted at once and created again.
  if (isMirror && record.wanted && (isDeleting || isOutlived(view, object, record))) {
    return { kind: "delete", uid, isMirror };
  }
  const status = statusWrite(view, object, record);
  if (status.kind !== "none" || isMirror || !isDeleting) return status;
  return isTerminalPhase(object.status?.phase) && isFinished(record) ? { kind: "delete", uid, isMirror } : status;
}

/** Deleted with grace period 0 but held by finalizers: another delete changes nothing. */
const isOnlyHeld = ({ metadata }: ApiPod): boolean =>
  metadata?.deletionTimestamp !== undefined &&
  metadata.deletionGracePeriodSeconds === 0 &&
  (metadata.finalizers ?? []).length > 0;

/** A static pod has a mirror pod from its admission until its manifest is removed. */
const isToMirror = ({ pod, state, wanted }: PodRecord): boolean =>
  pod !== undefined && isStaticPod(pod) && wanted && state !== "waiting" && state !== "rejected";

/** Returns the record of the pod that the API object is, or mirrors. */
function recordOf(records: readonly PodRecord[], object: ApiPod): PodRecord | undefined {
  const uid = isMirrorPod(object) ? mirrorHash(object) : object.metadata?.uid;
  return records.find(({ identity }) => identity.uid === uid);
}

/**
 * Whether the mirror pod still has the status of an earlier run of its static pod; the server would reject the new
 * status.
 */
function isOutlived({ statusOf }: PodWriteView, { status = {} }: ApiPod, { identity, pod }: PodRecord): boolean {
  const own = statusOf(identity.uid);
  return own !== undefined && pod !== undefined && isOfEarlierLife(status, own, pod);
}

/** The pod has no containers and no resources left, or never had any. */
const isFinished = ({ state, reclaimed }: PodRecord): boolean =>
  state === "rejected" || (state === "terminated" && reclaimed);

const mayRunStill = ({ state }: PodRecord): boolean => state === "syncing" || state === "terminating";

function statusWrite(view: PodWriteView, object: ApiPod, record: PodRecord): PodWrite {
  const { uid } = record.identity;
  const status = view.statusOf(uid);
  if (status === undefined) return NOTHING;
  const mayRun = mayRunStill(record);
  const known = object.status ?? {};
  const synced: SyncedStatus = { objectUid: object.metadata?.uid ?? "", status, mayRun };
  const merged = mergePodStatus(known, status, { mayRun, first: view.firstStatusOf(uid) });
  if (samePodStatus(known, merged)) return { kind: "none", synced };
  const afterMs = restMs(view, object, synced);
  if (afterMs > 0) return { kind: "later", afterMs };
  const { metadata } = object;
  const patch = createStatusPatch("Pod", { metadata, status: known }, { metadata, status: merged });
  return patch === undefined
    ? { kind: "none", synced }
    : { kind: "status", patch, synced, patched: { ...object, status: merged } };
}

/** Returns for how many milliseconds the status last written to the object stays. */
function restMs({ synced: before, now }: PodWriteView, { metadata }: ApiPod, synced: SyncedStatus): number {
  if (before?.objectUid !== synced.objectUid) return 0;
  if (isSynced(before, synced)) return before.atMs + REWRITE_MS - now;
  return synced.mayRun && metadata?.deletionTimestamp !== undefined ? before.atMs + LEAVING_MS - now : 0;
}

/**
 * Returns the object after a status patch from the server's answer, which is its metadata or the whole object. The
 * metadata lacks what other clients wrote into the status: the reflector reports that, at the version of the answer
 * at the latest.
 */
export function patchedObject(patched: ApiPod, answer: ApiPod): ApiPod {
  const { kind, metadata } = answer;
  return kind === "PartialObjectMetadata" && metadata !== undefined ? { ...patched, metadata } : answer;
}

const isSynced = (before: SyncedStatus, now: SyncedStatus): boolean =>
  before.objectUid === now.objectUid && before.status === now.status && before.mayRun === now.mayRun;

/** Order of writes when the rate limit delays them, most urgent first. */
const POD_WRITE_PRIORITIES = ["terminal", "deletion", "ready", "rest"] as const;

/** Returns the write priority of a name, from 0, the most urgent. */
export function podWritePriority({ object, records, statusOf }: PodWriteView): number {
  const record = object && recordOf(records, object);
  const status = record && statusOf(record.identity.uid);
  const lane = (name: (typeof POD_WRITE_PRIORITIES)[number]): number => POD_WRITE_PRIORITIES.indexOf(name);
  if (isTerminalPhase(status?.phase) && !isTerminalPhase(object?.status?.phase)) return lane("terminal");
  if (object?.metadata?.deletionTimestamp !== undefined) return lane("deletion");
  return isReady(status) === isReady(object?.status) ? lane("rest") : lane("ready");
}

const isReady = (status: PodStatus | undefined): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
