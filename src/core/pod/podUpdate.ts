/**
 * Turns a source's snapshot into differences by meaning: what the kubelet wrote itself (status, the moment a manifest
 * was seen) is no change of the user's. Counterpart: pkg/kubelet/config podStorage.
 */
import type { Pod } from "../api.ts";
import { type PodUid, podUid } from "../ids.ts";
import { sameValue } from "../sameValue.ts";
import type { PodSource, SourceSnapshot } from "./sourceSnapshot.ts";

/** SET and RESTORE are whole-state operations of a source; the rest are differences. */
export type PodOperation = "SET" | "ADD" | "DELETE" | "REMOVE" | "UPDATE" | "RECONCILE" | "RESTORE";

/** One difference of one source. DELETE is a graceful deletion (the pod still exists), REMOVE means gone. */
export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: PodSource;
  readonly pods: readonly Pod[];
}

/** What one source wants now, by UID, in its order. */
export type PodsByUid = ReadonlyMap<PodUid, Pod>;

/** Annotations the kubelet maintains itself; a change in them is no change of meaning. */
const LOCAL_ANNOTATIONS = ["kubernetes.io/config.source", "kubernetes.io/config.seen"];

const OPERATIONS = ["REMOVE", "DELETE", "ADD", "UPDATE", "RECONCILE"] as const;
type Difference = (typeof OPERATIONS)[number];

/** Pods by UID; of two with one UID the first wins. */
export function podsByUid(pods: readonly Pod[]): PodsByUid {
  const byUid = new Map<PodUid, Pod>();
  for (const pod of pods) {
    const uid = podUid(pod.metadata.uid);
    if (!byUid.has(uid)) byUid.set(uid, pod);
  }
  return byUid;
}

/** Differences between what a source wanted and wants, removals first. An empty list means nothing changed. */
export function diffSource(
  previous: PodsByUid,
  next: PodsByUid,
  source: SourceSnapshot["source"],
): readonly PodUpdate[] {
  const found = new Map<Difference, Pod[]>();
  const add = (op: Difference, pod: Pod): void => {
    found.set(op, [...(found.get(op) ?? []), pod]);
  };
  for (const [uid, pod] of previous) if (!next.has(uid)) add("REMOVE", pod);
  for (const [uid, pod] of next) {
    const known = previous.get(uid);
    const op = known === undefined ? "ADD" : compare(known, pod);
    if (op !== undefined) add(op, pod);
  }
  return OPERATIONS.flatMap((op) => {
    const pods = found.get(op);
    return pods === undefined ? [] : [{ op, source, pods }];
  });
}

function compare(known: Pod, pod: Pod): "DELETE" | "UPDATE" | "RECONCILE" | undefined {
  if (known === pod) return undefined;
  if (!sameValue(podMeaning(known), podMeaning(pod))) {
    return pod.metadata.deletionTimestamp === undefined ? "UPDATE" : "DELETE";
  }
  return sameValue(known.status, pod.status) ? undefined : "RECONCILE";
}

/** What a source wants of a pod, without what the kubelet wrote itself: its status, the moment it was first seen. */
export function podMeaning(pod: Pod): unknown {
  const annotations = Object.fromEntries(
    Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)),
  );
  const { labels, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  return { spec: pod.spec, labels: labels ?? {}, annotations, deletionTimestamp, deletionGracePeriodSeconds };
}
