/**
 * Once a pod is to go, no stop of its containers is given more than the shortest grace period told of for it, nor more
 * than the stop of the same container before it.
 */
import type { SimChecker } from "../simChecker.ts";
import { goingPods, GOING_SIGHTS } from "./goingPods.ts";

/** The least a container is ever given. */
const MINIMUM_SECONDS = 2;

export function graceNeverGrows(): SimChecker {
  const going = goingPods();
  /** Seconds last given to a container, by pod UID and subject. */
  const given = new Map<string, number>();
  return {
    name: "graceNeverGrows",
    sees: [...GOING_SIGHTS, "change", "call"],
    check(observation) {
      going.look(observation);
      if (observation.kind === "kubelet") given.clear();
      // One of that name may have been lost with its runtime: the next one starts with the grace of the pod.
      if (observation.kind === "change" && /^container (created|removed)$/.test(observation.change.kind)) {
        given.delete(`${observation.change.podUid} ${observation.change.name}`);
      }
      if (observation.kind !== "call") return undefined;
      const { podUid, subject, graceSeconds } = observation;
      const inForce = going.graceSeconds(podUid, observation.atMs);
      if (graceSeconds === undefined || inForce === undefined) return undefined;
      const container = `${podUid} ${subject}`;
      const most = Math.max(MINIMUM_SECONDS, Math.min(inForce, given.get(container) ?? Infinity));
      given.set(container, graceSeconds);
      return graceSeconds <= most ? undefined : `${subject} was given ${graceSeconds} s where ${most} s are left`;
    },
  };
}
