/**
 * What the API server is to be told next of the pod objects of one name: a pure decision over what it has, what the node
 * has and what was written. Counterpart: syncPod of the status manager, tryReconcileMirrorPods, HandlePodCleanups.
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
import type { ApiPod } from "./toldPods.ts";

/** A status as it was written to one object. */
export interface SyncedStatus {
  readonly objectUid: string;
  /** The very status told; a newer one is another object. */
  readonly status: PodStatus;
  readonly mayRun: boolean;
}

export interface PodWriteView {
  /** The object of that name as last known; undefined when there is none. */
  readonly object: ApiPod | undefined;
  /** The node's pods of that name, of any UID. */
  readonly records: readonly PodRecord[];
  readonly statusOf: (uid: PodUid) => PodStatus | undefined;
  /** The first status of the pod that this kubelet told. */
  readonly firstStatusOf: (uid: PodUid) => PodStatus | undefined;
  readonly synced: (SyncedStatus & { readonly atMs: MonotonicMs }) | undefined;
  /** The server has told its pods once. */
  readonly isTold: boolean;
  /** The node knows all its pods: what it does not know may go. */
  readonly isSettled: boolean;
  readonly now: MonotonicMs;
}

/** The next thing to do. */
export type PodWrite =
  | { readonly kind: "none"; readonly synced: SyncedStatus | undefined }
  /** Nothing before so many milliseconds have passed, unless something changes. */
  | { readonly kind: "later"; readonly afterMs: number }
  | { readonly kind: "status"; readonly patch: Readonly<Record<string, unknown>>; readonly synced: SyncedStatus }
  /** With grace 0, if it still has this UID. */
  | { readonly kind: "delete"; readonly uid: string; readonly isMirror: boolean }
  | { readonly kind: "createMirror"; readonly pod: Pod };

/** A status that somebody else keeps changing is written again at most this often; upstream's syncPeriod. */
const REWRITE_MS = 10_000;

const NOTHING: PodWrite = { kind: "none", synced: undefined };

/** Decides. */
export function nextPodWrite(view: PodWriteView): PodWrite {
  const { object, records } = view;
  const mirrored = records.find(isToMirror);
  if (object === undefined) {
    return mirrored?.pod === undefined || !view.isTold ? NOTHING : { kind: "createMirror", pod: mirrored.pod };
  }
  const isMirror = isMirrorPod(object);
  const uid = object.metadata?.uid ?? "";
  const isDeleting = object.metadata?.deletionTimestamp !== undefined && !isOnlyHeld(object);
  const record = recordOf(records, object);
  if (record === undefined) {
    const isStray = isMirror && !isOnlyHeld(object) && (view.isSettled || mirrored !== undefined);
    return isStray ? { kind: "delete", uid, isMirror } : NOTHING;
  }
  // A mirror cannot be deleted gracefully: it goes at once, and comes again.
  if (isMirror && record.wanted && (isDeleting || isOutlived(view, object, record))) {
    return { kind: "delete", uid, isMirror };
  }
  const status = statusWrite(view, object, record);
  if (status.kind !== "none" || isMirror || !isDeleting) return status;
  return isTerminalPhase(object.status?.phase) && isFinished(record) ? { kind: "delete", uid, isMirror } : status;
}

/** Deleted for good, but for those who hold it back: to delete it once more changes nothing. */
const isOnlyHeld = ({ metadata }: ApiPod): boolean =>
  metadata?.deletionTimestamp !== undefined &&
  metadata.deletionGracePeriodSeconds === 0 &&
  (metadata.finalizers ?? []).length > 0;

/** A static pod has a mirror once it was admitted, and until its manifest goes. */
const isToMirror = ({ pod, state, wanted }: PodRecord): boolean =>
  pod !== undefined && isStaticPod(pod) && wanted && state !== "waiting" && state !== "rejected";

/** The pod that an object shows, or is. */
function recordOf(records: readonly PodRecord[], object: ApiPod): PodRecord | undefined {
  const uid = isMirrorPod(object) ? mirrorHash(object) : object.metadata?.uid;
  return records.find(({ identity }) => identity.uid === uid);
}

/** A mirror that has not followed its pod into another life never will. */
function isOutlived({ statusOf }: PodWriteView, { status = {} }: ApiPod, { identity, pod }: PodRecord): boolean {
  const own = statusOf(identity.uid);
  return own !== undefined && pod !== undefined && isOfEarlierLife(status, own, pod);
}

/** Nothing runs any more, and nothing is held; or nothing ever was. */
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
  if (isSynced(view.synced, synced)) {
    const afterMs = view.synced.atMs + REWRITE_MS - view.now;
    if (afterMs > 0) return { kind: "later", afterMs };
  }
  const { metadata } = object;
  const patch = createStatusPatch("Pod", { metadata, status: known }, { metadata, status: merged });
  return patch === undefined ? { kind: "none", synced } : { kind: "status", patch, synced };
}

const isSynced = <T extends SyncedStatus>(before: T | undefined, now: SyncedStatus): before is T =>
  before?.objectUid === now.objectUid && before.status === now.status && before.mayRun === now.mayRun;

/** What is written first when not everything can be written at once. */
const POD_WRITE_PRIORITIES = ["terminal", "deletion", "ready", "rest"] as const;

/** The lane of a name, from 0, the most urgent. */
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
