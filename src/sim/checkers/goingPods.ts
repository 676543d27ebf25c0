/**
 * Pods that are to go, and how long they may take: the shortest grace the kubelet was told of, in seconds. What was
 * told is lost when the kubelet ends: the next one starts from what the pod says then. A word that comes in the very
 * millisecond of a request may have crossed it.
 */
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isPodsLast, type SimObservation } from "../simObservation.ts";

/** The default of pods that do not say. */
export const DEFAULT_SECONDS = 30;

/** The shortest grace period so far, and what it was before the instant of the last word on it. */
interface Grace {
  readonly seconds: number;
  readonly atMs: number;
  /** Infinity: none was in force. */
  readonly before: number;
}

/** What the table is made of. */
export const GOING_SIGHTS = ["wanted", "removed", "status", "kubelet"] as const;

/** Makes the table. Bound: pods told of by this kubelet's sources. */
export function goingPods() {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** What each pod's spec says, by UID. */
  const specs = new Map<string, number>();
  /** Grace in force, by UID. */
  const going = new Map<string, Grace>();
  const told = ({ atMs, source, podUids, news }: SimObservation & { readonly kind: "wanted" }): void => {
    const shorten = (uid: string, seconds: number): void => {
      const known = going.get(uid);
      const before = known?.atMs === atMs ? known.before : (known?.seconds ?? Infinity);
      going.set(uid, { seconds: Math.min(known?.seconds ?? Infinity, seconds), atMs, before });
    };
    for (const uid of wanted.get(source) ?? []) {
      if (!podUids.has(uid) && !going.has(uid)) shorten(uid, specs.get(uid) ?? Infinity);
    }
    for (const { metadata, spec } of news) {
      const ofSpec = spec.terminationGracePeriodSeconds ?? DEFAULT_SECONDS;
      specs.set(metadata.uid, ofSpec);
      // The first deletion may give more than the spec, later ones only less.
      if (metadata.deletionTimestamp !== undefined)
        shorten(metadata.uid, metadata.deletionGracePeriodSeconds ?? ofSpec);
    }
    wanted.set(source, podUids);
  };
  return {
    /** Takes an observation in. */
    look(observation: SimObservation): void {
      if (observation.kind === "wanted") told(observation);
      if (observation.kind === "removed" && isPodsLast(observation.what)) going.delete(observation.podUid);
      // One that never came to the runtime leaves nothing to be removed.
      if (observation.kind === "status" && observation.after === undefined) going.delete(observation.podUid);
      if (observation.kind !== "kubelet") return;
      wanted.clear();
      specs.clear();
      going.clear();
    },
    /** The shortest told of so far, at this very instant too; undefined for a pod that is not to go. */
    shortestSeconds: (podUid: string): number | undefined => going.get(podUid)?.seconds,
    /** In force at this instant; undefined for a pod that is not to go. */
    graceSeconds(podUid: string, atMs: number): number | undefined {
      const grace = going.get(podUid);
      return grace?.atMs === atMs ? grace.before : grace?.seconds;
    },
  };
}
