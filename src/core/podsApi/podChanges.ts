/** Changes of the pods of a node, as watchers of the Pods API receive them. Upstream: pkg/kubelet/apis/pods/server.go. */
import type { Pod } from "../api.ts";
import type { EncodablePod } from "./podMessage.ts";

/** Pods by UID, as watchers know them. */
export type KnownPods = ReadonlyMap<string, Pod>;

export interface PodChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly pod: EncodablePod;
}

/** Returns the pods by UID, as upstream lists them, each with a phase. */
export const listedPods = (pods: readonly Pod[]): readonly Pod[] =>
  pods.map(withPhase).toSorted((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));

/** A pod without a status yet is pending. */
const withPhase = (pod: Pod): Pod =>
  pod.status?.phase === undefined ? { ...pod, status: { ...pod.status, phase: "Pending" } } : pod;

/**
 * Returns the pods that watchers know from now on, and what they receive. Parts of pods are replaced, never edited, so the
 * same objects are the same pod. A pod that is gone has its name, namespace and UID alone.
 */
export function podChanges(
  known: KnownPods,
  pods: readonly Pod[],
): { readonly known: KnownPods; readonly changes: readonly PodChange[] } {
  const now = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  const gone = [...known].flatMap(([uid, { metadata }]): readonly PodChange[] => {
    const { name, namespace } = metadata;
    return now.has(uid) ? [] : [{ type: "DELETED", pod: { metadata: { name, namespace, uid } } }];
  });
  const news = listedPods(pods).flatMap((pod): readonly PodChange[] => {
    const { uid } = pod.metadata;
    const [before, after] = [known.get(uid), now.get(uid)];
    if (before === undefined) return [{ type: "ADDED", pod }];
    const isSame = before.metadata === after?.metadata && before.spec === after.spec && before.status === after.status;
    return isSame ? [] : [{ type: "MODIFIED", pod }];
  });
  return { known: now, changes: [...gone, ...news] };
}
