/**
 * The pods that stay on a node: the desired pods of this kubelet's sources without a deletion timestamp, waiting pods
 * included, terminal pods excluded. A pod that takes longer than a minute to terminate may count as staying, and so may
 * a pod that has run since before this kubelet started. Bound: the pods of a run.
 */
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimObservation } from "../simObservation.ts";
import type { createPodSandboxes } from "./podSandboxes.ts";

/** The minimum time that a pod has to stop while other pods wait for its resources. */
const SHORTEST_WAIT_MS = 60_000;

/** Creates the table; it is empty until the sources have reported. */
export function createStayingPods(sandboxes: ReturnType<typeof createPodSandboxes>) {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** When a pod was deleted, became terminal or was preempted, and the number of snapshots by then. */
  const going = new Map<string, { readonly atMs: number; readonly snapshots: number; readonly isPreempted: boolean }>();
  /** Pods in `going` that a source lists again: they restart. */
  const returned = new Set<string>();
  /** The number of snapshots when each pod first appeared. */
  const seenAt = new Map<string, number>();
  let snapshots = 0;
  /** Pods that were terminal when this kubelet first saw them, and pods that it rejected, with the time of that. */
  const over = new Map<string, number | undefined>();
  let startedAtMs = 0;
  /** When this kubelet first decided about a pod: until the runtime has listed its pods, snapshots wait in order. */
  let decidedAtMs: number | undefined;
  const goes = (uid: string, atMs: number, isPreempted = false): void =>
    void going.set(uid, going.get(uid) ?? { atMs, snapshots, isPreempted });
  const stays = (uid: string, isWanted: boolean, rejected: string, atMs: number): boolean => {
    const since = going.get(uid);
    // The snapshot that ends the other pod may have crossed the decision, or waited behind it.
    const hasCrossed = since?.atMs === atMs || decidedAtMs === atMs;
    if (since !== undefined && hasCrossed && since.snapshots > (seenAt.get(rejected) ?? 0)) return true;
    // Resizes come after the new pods of the same instant, as upstream, and that of a critical pod may preempt.
    if (since?.isPreempted === true && since.atMs === atMs) return true;
    const isSlow = atMs - (since?.atMs ?? startedAtMs) >= SHORTEST_WAIT_MS;
    // While its runtime is down, the kubelet does not see that a pod has stopped.
    return (
      (isWanted && (since === undefined || returned.has(uid))) ||
      (isSlow && (since !== undefined || sandboxes.hasAny(uid)))
    );
  };
  return {
    goes,
    isOver: (uid: string): boolean => over.has(uid),
    /** Records a rejection: until that moment the pod may have been promised its resources. */
    ended: (uid: string, atMs: number): void => void over.set(uid, atMs),
    /** Records that this kubelet has reported the status of a pod. */
    decided: (atMs: number): void => void (decidedAtMs ??= atMs),
    /** Updates the table from a snapshot of a source. */
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
        if (isOver) over.set(uid, undefined);
        if (isOver || deletionTimestamp !== undefined) goes(uid, atMs);
        else if (!before.has(uid) && going.has(uid)) returned.add(uid);
      }
    },
    /** Returns the pods that may stay beside a rejected pod. */
    beside(rejected: string, atMs: number): readonly string[] {
      const isWanted = new Set([...wanted.values()].flatMap((uids) => [...uids]));
      const others = new Set([...isWanted, ...going.keys(), ...sandboxes.uids()]);
      return [...others].filter(
        (other) =>
          other !== rejected &&
          (!over.has(other) || over.get(other) === atMs) &&
          stays(other, isWanted.has(other), rejected, atMs),
      );
    },
    /** Drops a pod that the kubelet no longer knows. */
    forget(uid: string): void {
      for (const table of [going, returned, seenAt, over]) table.delete(uid);
    },
    /** Resets the table: a new kubelet process knows no earlier snapshots. */
    restart(atMs: number): void {
      for (const table of [wanted, going, returned, seenAt, over]) table.clear();
      startedAtMs = atMs;
      decidedAtMs = undefined;
    },
  };
}
