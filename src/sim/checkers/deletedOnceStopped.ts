/**
 * The kubelet removes a pod's object only when somebody deleted it and nothing of it runs any more, and never without
 * saying which one it means. Mirrors are its own to remove.
 */
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import { isMirrorPod } from "../../core/pod/mirrorPod.ts";
import type { SimChecker } from "../simChecker.ts";
import { liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";

export function deletedOnceStopped(live = liveContainers()): SimChecker {
  /** By UID. */
  const objects = new Map<string, ApiPod>();
  return {
    name: "deletedOnceStopped",
    sees: [...LIVE_SIGHTS, "object", "request"],
    check(observation) {
      live.look(observation);
      if (observation.kind === "object") {
        const { what, object } = observation;
        const uid = object.metadata?.uid ?? "";
        if (what === "DELETED") objects.delete(uid);
        else objects.set(uid, object);
      }
      if (observation.kind !== "request" || observation.verb !== "delete") return undefined;
      const { subject, uid } = observation;
      if (uid === undefined) return `${subject} is deleted whichever it is`;
      const object = objects.get(uid);
      if (object === undefined || isMirrorPod(object)) return undefined;
      if (object.metadata?.deletionTimestamp === undefined) return `${subject} is deleted and nobody asked for it`;
      const [running] = live.ofPod(uid);
      return running === undefined ? undefined : `${subject} is deleted while ${running.subject} runs`;
    },
  };
}
