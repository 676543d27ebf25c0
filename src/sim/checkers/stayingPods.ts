/**
 * The pods that keep their place on a node: the sources of this kubelet want them and have not deleted them, pods that
 * wait for room among them. Terminal pods do not stay. A pod that this kubelet has not let go of within a minute may
 * count as staying, and so may pods that have run since before it started. Bound: the pods of a run.
 */
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimObservation } from "../simObservation.ts";
import type { createPodSandboxes } from "./podSandboxes.ts";

/** The shortest time a pod has to stop while others wait for its room. */
const SHORTEST_WAIT_MS = 60_000;

/** Creates the table; it is empty until the sources have reported. */
export function createStayingPods(sandboxes: ReturnType<typeof createPodSandboxes>) {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** When a pod was deleted or became terminal, and the number of snapshots by then. */
  const going = new Map<string, { readonly atMs: number; readonly snapshots: number }>();
  /** Going pods that a source wants again, so that they start over. */
  const returned = new Set<string>();
  /** The number of snapshots when each pod first appeared. */
  const seenAt = new Map<string, number>();
  let snapshots = 0;
  /** Pods that were terminal when this kubelet first saw them, and pods that it rejected. */
  const over = new Set<string>();
  let startedAtMs = 0;
  const goes = (uid: string, atMs: number): void => void going.set(uid, going.get(uid) ?? { atMs, snapshots });
  const stays = (uid: string, isWanted: boolean, rejected: string, atMs: number): boolean => {
    const since = going.get(uid);
    // The end of that pod may have crossed the decision.
    if (since?.atMs === atMs && since.snapshots > (seenAt.get(rejected) ?? 0)) return true;
    const isSlow = atMs - (since?.atMs ?? startedAtMs) >= SHORTEST_WAIT_MS;
    // A kubelet whose runtime is down does not see that a pod has stopped.
    return (
      (isWanted && (since === undefined || returned.has(uid))) ||
      (isSlow && (since !== undefined || sandboxes.hasAny(uid)))
    );
  };
  return {
    goes,
    isOver: (uid: string): boolean => over.has(uid),
    ended: (uid: string): void => void over.add(uid),
    /** Takes a snapshot of a source. */
    snapshot({ atMs, source, podUids, news }: SimObservation & { readonly kind: "wanted" }): void {
      snapshots += 1;
      const before = wanted.get(source) ?? new Set();
      for (const uid of before) {
        if (podUids.has(uid)) continue;
        goes(uid, atMs);
        returned.delete(uid);
      }
      wanted.set(source, podUids);
      for (const { metadata, status } of news) {
        const { uid, deletionTimestamp } = metadata;
        seenAt.set(uid, seenAt.get(uid) ?? snapshots);
        const isOver = isTerminalPhase(status?.phase);
        if (isOver) over.add(uid);
        if (isOver || deletionTimestamp !== undefined) goes(uid, atMs);
        else if (!before.has(uid) && going.has(uid)) returned.add(uid);
      }
    },
    /** Returns the pods that may stay beside a rejected pod. */
    beside(rejected: string, atMs: number): readonly string[] {
      const isWanted = new Set([...wanted.values()].flatMap((uids) => [...uids]));
      const others = new Set([...isWanted, ...going.keys(), ...sandboxes.uids()]);
      return [...others].filter(
        (other) => other !== rejected && !over.has(other) && stays(other, isWanted.has(other), rejected, atMs),
      );
    },
    /** The kubelet no longer knows the pod. */
    forget(uid: string): void {
      for (const table of [going, returned, seenAt, over]) table.delete(uid);
    },
    /** A kubelet starts, and knows nothing of earlier snapshots. */
    restart(atMs: number): void {
      for (const table of [wanted, going, returned, seenAt, over]) table.clear();
      startedAtMs = atMs;
    },
  };
}
