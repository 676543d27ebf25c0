/**
 * Once a pod terminates, no StopContainer request has a longer timeout than the shortest grace period of the pod so
 * far, nor than the previous request for the same container.
 */
import type { SimChecker } from "../simChecker.ts";
import { goingPods, GOING_SIGHTS } from "./goingPods.ts";

/** The minimum timeout of a StopContainer request. */
const MINIMUM_SECONDS = 2;

export function graceNeverGrows(): SimChecker {
  const going = goingPods();
  /** Timeout in seconds of the last request for a container, by pod UID and subject. */
  const given = new Map<string, number>();
  return {
    name: "graceNeverGrows",
    sees: [...GOING_SIGHTS, "change", "call"],
    check(observation) {
      going.look(observation);
      if (observation.kind === "kubelet") given.clear();
      // The runtime may have lost the earlier container of that name: the new one starts with the grace period of the
      // pod.
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
