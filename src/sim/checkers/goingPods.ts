/**
 * Pods that terminate, with the shortest grace period given to the kubelet, in seconds. A restart of the kubelet drops
 * the table: the next process starts from the pod spec. An update in the same millisecond as a request may have crossed
 * it.
 */
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isPodsLast, type SimObservation } from "../simObservation.ts";

/** Default of `terminationGracePeriodSeconds`. */
export const DEFAULT_SECONDS = 30;

/** The shortest grace period so far, and its value before the instant of the last update. */
interface Grace {
  readonly seconds: number;
  readonly atMs: number;
  /** Infinity when no grace period was in force. */
  readonly before: number;
}

/** Kinds of observations that the table needs. */
export const GOING_SIGHTS = ["wanted", "removed", "status", "kubelet"] as const;

/** Creates the table. Bound: pods that the sources of this kubelet process listed. */
export function goingPods() {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** Grace period of each pod spec, by UID. */
  const specs = new Map<string, number>();
  /** Grace period in force, by UID. */
  const going = new Map<string, Grace>();
  const reported = ({ atMs, source, podUids, news }: SimObservation & { readonly kind: "wanted" }): void => {
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
      // The first deletion may give more than the spec; later deletions can only shorten the period.
      if (metadata.deletionTimestamp !== undefined)
        shorten(metadata.uid, metadata.deletionGracePeriodSeconds ?? ofSpec);
    }
    wanted.set(source, podUids);
  };
  return {
    /** Updates the table from an observation. */
    look(observation: SimObservation): void {
      if (observation.kind === "wanted") reported(observation);
      if (observation.kind === "removed" && isPodsLast(observation.what)) going.delete(observation.podUid);
      // A pod that never reached the runtime leaves nothing to remove.
      if (observation.kind === "status" && observation.after === undefined) going.delete(observation.podUid);
      if (observation.kind !== "kubelet") return;
      wanted.clear();
      specs.clear();
      going.clear();
    },
    /** The shortest period so far, updates of this instant included; undefined for a pod that does not terminate. */
    shortestSeconds: (podUid: string): number | undefined => going.get(podUid)?.seconds,
    /** The period in force before the updates of this instant; undefined for a pod that does not terminate. */
    graceSeconds(podUid: string, atMs: number): number | undefined {
      const grace = going.get(podUid);
      return grace?.atMs === atMs ? grace.before : grace?.seconds;
    },
  };
}
