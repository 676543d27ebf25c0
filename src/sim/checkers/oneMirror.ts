/** A static pod has one mirror pod at most, and no container ever runs for the mirror pod itself. */
import { isMirrorPod, mirrorHash } from "../../core/pod/mirrorPod.ts";
import type { SimChecker } from "../simChecker.ts";

export function oneMirror(): SimChecker {
  /** Hash annotation of each mirror pod, by the UID of the mirror pod. */
  const mirrors = new Map<string, string | undefined>();
  return {
    name: "oneMirror",
    sees: ["change", "object"],
    check(observation) {
      if (observation.kind === "change" && mirrors.has(observation.change.podUid)) {
        return `${observation.change.name} is run for a mirror pod`;
      }
      if (observation.kind !== "object" || !isMirrorPod(observation.object)) return undefined;
      const { what, subject, object } = observation;
      const [uid, hash] = [object.metadata?.uid ?? "", mirrorHash(object)];
      const isSecond = what === "ADDED" && [...mirrors.values()].includes(hash);
      if (what === "DELETED") mirrors.delete(uid);
      else mirrors.set(uid, hash);
      return isSecond ? `${subject} is a second mirror of pod ${hash}` : undefined;
    },
  };
}
