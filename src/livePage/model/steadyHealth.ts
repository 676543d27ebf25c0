/**
 * Keeps a pod among those in trouble for a while after it recovers: a pod in a crash loop is ready between its crashes,
 * and must not jump through the list. Bound: the pods of the last message.
 */
import type { LivePod } from "../../core/live/liveMessages.ts";
import type { PodTrouble, RankedPod } from "./podTroubles.ts";

/** Time after a trouble in which the pod is shown as recovering. */
export const RECOVERY_MS = 30_000;

interface Memory {
  readonly at: number;
  readonly troubles: readonly PodTrouble[];
}

export interface SteadyPod extends RankedPod {
  /** The reasons of the trouble that the pod has just left. */
  readonly past?: readonly PodTrouble[];
}

export interface SteadyHealth {
  /** Takes the pods as they are at `now`, and returns those that recover as in trouble, with their past reasons. */
  look(pods: readonly RankedPod[], now: number): readonly SteadyPod[];
}

/** Starts without a memory. `troublesOf` gives the reasons of a pod in trouble. */
export function createSteadyHealth(troublesOf: (pod: LivePod) => readonly PodTrouble[]): SteadyHealth {
  let memories: ReadonlyMap<string, Memory> = new Map();
  return {
    look(pods, now) {
      const next = new Map<string, Memory>();
      const steady = pods.map((known): SteadyPod => {
        const { uid } = known.pod;
        const memory = memories.get(uid);
        if (known.health === "trouble") {
          next.set(uid, { at: now, troubles: troublesOf(known.pod) });
          return known;
        }
        if (memory === undefined || now - memory.at > RECOVERY_MS || known.health === "done") return known;
        next.set(uid, memory);
        return { pod: known.pod, health: "trouble", past: memory.troubles };
      });
      memories = next;
      return steady;
    },
  };
}
