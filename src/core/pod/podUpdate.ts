/**
 * Turns a source's snapshot into semantic differences. Fields that the kubelet writes (the status, the first-seen
 * annotation) do not count as changes of the spec. Upstream: podStorage of pkg/kubelet/config.
 */
import type { Pod } from "../api.ts";
import { type PodUid, podUid } from "../ids.ts";
import { sameValue } from "../sameValue.ts";
import { isRestored, RESTORED_ANNOTATION } from "./restoredMark.ts";
import type { PodSource, SourceSnapshot } from "./sourceSnapshot.ts";

const DIFFERENCES = ["REMOVE", "DELETE", "ADD", "UPDATE", "RECONCILE"] as const;

/**
 * A kind of difference between two states of a source; or the pods of a source as they were kept on disk (RESTORE), or
 * its whole state after a gap (SET).
 */
export type PodOperation = (typeof DIFFERENCES)[number] | "RESTORE" | "SET";

/**
 * A change of one source. DELETE is a graceful deletion (the pod still exists); REMOVE means that the pod is gone. The
 * pods of RESTORE may be incomplete, so none is removed because it is missing among them; SET removes the others.
 */
export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: PodSource;
  readonly pods: readonly Pod[];
}

/** The desired pods of one source, by UID, in source order. */
export type PodsByUid = ReadonlyMap<PodUid, Pod>;

/** Annotations that the kubelet maintains; changes to them are ignored. */
const LOCAL_ANNOTATIONS = ["kubernetes.io/config.source", "kubernetes.io/config.seen", RESTORED_ANNOTATION];

/** Indexes pods by UID. The first of two pods with the same UID wins. */
export function podsByUid(pods: readonly Pod[]): PodsByUid {
  const byUid = new Map<PodUid, Pod>();
  for (const pod of pods) {
    const uid = podUid(pod.metadata.uid);
    if (!byUid.has(uid)) byUid.set(uid, pod);
  }
  return byUid;
}

/** Returns the differences between two states of a source, removals first. Empty when nothing changed. */
export function diffSource(
  previous: PodsByUid,
  next: PodsByUid,
  source: SourceSnapshot["source"],
): readonly PodUpdate[] {
  const found = new Map<PodOperation, Pod[]>();
  const add = (op: PodOperation, pod: Pod): void => {
    found.set(op, [...(found.get(op) ?? []), pod]);
  };
  for (const [uid, pod] of previous) if (!next.has(uid)) add("REMOVE", pod);
  for (const [uid, pod] of next) {
    const known = previous.get(uid);
    const op = known === undefined ? "ADD" : compare(known, pod);
    if (op !== undefined) add(op, pod);
  }
  return DIFFERENCES.flatMap((op) => {
    const pods = found.get(op);
    return pods === undefined ? [] : [{ op, source, pods }];
  });
}

function compare(known: Pod, pod: Pod): "DELETE" | "UPDATE" | "RECONCILE" | undefined {
  if (known === pod) return undefined;
  if (!sameValue(podMeaning(known), podMeaning(pod))) {
    return pod.metadata.deletionTimestamp === undefined ? "UPDATE" : "DELETE";
  }
  return sameValue(known.status, pod.status) && isRestored(known) === isRestored(pod) ? undefined : "RECONCILE";
}

/**
 * Returns the content of a pod that its source controls, without the status and the annotations that the kubelet
 * writes.
 */
export function podMeaning(pod: Pod): unknown {
  const annotations = Object.fromEntries(
    Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)),
  );
  const { labels, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  return { spec: pod.spec, labels: labels ?? {}, annotations, deletionTimestamp, deletionGracePeriodSeconds };
}
