/**
 * Once a pod is to go, no stop of one of its containers is given more time than the shortest grace period the kubelet
 * was told of for it. What was told is lost when the kubelet ends: the next one starts from what the pod says then. A
 * word that comes in the very millisecond of a stop may have crossed it.
 */
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";

/** The least a container is ever given. */
const MINIMUM_SECONDS = 2;
/** The default of pods that do not say. */
const DEFAULT_SECONDS = 30;

/** The shortest grace period so far, and what it was before the instant of the last word on it. */
interface Grace {
  readonly seconds: number;
  readonly atMs: number;
  /** Infinity: none was in force. */
  readonly before: number;
}

export function graceNeverGrows(): SimChecker {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** What each pod's spec says, by UID. */
  const specs = new Map<string, number>();
  /** Grace in force of pods that are to go, by UID. */
  const going = new Map<string, Grace>();
  const told = ({ atMs, source, podUids, pods }: SimObservation & { readonly kind: "wanted" }): void => {
    const shorten = (uid: string, seconds: number): void => {
      const known = going.get(uid);
      const before = known?.atMs === atMs ? known.before : (known?.seconds ?? Infinity);
      going.set(uid, { seconds: Math.min(known?.seconds ?? Infinity, seconds), atMs, before });
    };
    for (const uid of wanted.get(source) ?? []) {
      if (!podUids.has(uid) && !going.has(uid)) shorten(uid, specs.get(uid) ?? Infinity);
    }
    for (const { metadata, spec } of pods) {
      const ofSpec = spec.terminationGracePeriodSeconds ?? DEFAULT_SECONDS;
      specs.set(metadata.uid, ofSpec);
      // The first deletion may give more than the spec, later ones only less.
      if (metadata.deletionTimestamp !== undefined)
        shorten(metadata.uid, metadata.deletionGracePeriodSeconds ?? ofSpec);
    }
    wanted.set(source, podUids);
  };
  return {
    name: "graceNeverGrows",
    check(observation) {
      switch (observation.kind) {
        case "wanted":
          told(observation);
          return undefined;
        case "kubelet":
          wanted.clear();
          specs.clear();
          going.clear();
          return undefined;
        case "removed":
          going.delete(observation.podUid);
          return undefined;
        case "call": {
          const { podUid, subject, graceSeconds } = observation;
          const grace = going.get(podUid);
          if (graceSeconds === undefined || grace === undefined) return undefined;
          const inForce = grace.atMs === observation.atMs ? grace.before : grace.seconds;
          if (graceSeconds <= Math.max(MINIMUM_SECONDS, inForce)) return undefined;
          return `${subject} was given ${graceSeconds} s, ${inForce} s are left to its pod`;
        }
        default:
          return undefined;
      }
    },
  };
}
