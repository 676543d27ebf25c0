/**
 * The kubelet removes a pod object only when it has a deletion timestamp and no container of the pod runs, and always
 * with the UID as a precondition. Mirror pods are the kubelet's own to remove.
 */
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import { isMirrorPod } from "../../core/pod/mirrorPod.ts";
import type { SimChecker } from "../simChecker.ts";
import { liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";

export function deletedOnceStopped(live = liveContainers()): SimChecker {
  /** Pod objects by UID. */
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
      if (uid === undefined) return `${subject} is deleted without a UID precondition`;
      const object = objects.get(uid);
      if (object === undefined || isMirrorPod(object)) return undefined;
      if (object.metadata?.deletionTimestamp === undefined) return `${subject} is deleted without a deletion timestamp`;
      const [running] = live.ofPod(uid);
      return running === undefined ? undefined : `${subject} is deleted while ${running.subject} runs`;
    },
  };
}
