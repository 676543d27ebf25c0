/** Names of pods by UID, also of those that are gone: their marbles are still shown. Bound: MAX_NAMES. */
import type { LivePod } from "../../core/live/liveMessages.ts";
import { shownText } from "./shownText.ts";

export const MAX_NAMES = 5_000;
const MAX_NAME = 120;

export interface PodNames {
  /** UIDs of the node's pods, in the order of the last message. */
  readonly pods: readonly string[];
  /** Returns `namespace/name`, or the UID of a pod that was never named. */
  of(uid: string): string;
  take(pods: readonly LivePod[]): void;
}

/** Starts without names. */
export function createPodNames(bound = MAX_NAMES): PodNames {
  const names = new Map<string, string>();
  let current: readonly string[] = [];
  return {
    get pods() {
      return current;
    },
    of: (uid) => names.get(uid) ?? shownText(uid, MAX_NAME),
    take(pods) {
      for (const { uid, namespace, name } of pods) {
        // The names that were taken last are kept the longest.
        names.delete(uid);
        names.set(uid, shownText(`${namespace}/${name}`, MAX_NAME));
      }
      for (const uid of names.keys()) {
        if (names.size <= bound) break;
        names.delete(uid);
      }
      current = pods.map(({ uid }) => uid);
    },
  };
}
