/**
 * The pod status on the API server never regresses: a pod that has Succeeded or Failed keeps its phase, and restart
 * counts only grow, also with lost responses and repeated requests. Mirror pods are exempt: a static pod may restart
 * from zero.
 */
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import { isMirrorPod } from "../../core/pod/mirrorPod.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimChecker } from "../simChecker.ts";

export function serverStatusGrows(): SimChecker {
  return {
    name: "serverStatusGrows",
    sees: ["object"],
    check(observation) {
      if (observation.kind !== "object" || observation.what !== "MODIFIED") return undefined;
      const { subject, object, before } = observation;
      if (before === undefined || isMirrorPod(object)) return undefined;
      const [was, is] = [before.status?.phase, object.status?.phase];
      if (isTerminalPhase(was) && is !== was) return `the server's ${subject} went from ${was} to ${is}`;
      const counts = restartsOf(object);
      const fallen = [...restartsOf(before)].find(([name, count]) => (counts.get(name) ?? count) < count);
      if (fallen === undefined) return undefined;
      return `the server's ${subject} went from ${fallen[1]} restarts of ${fallen[0]} to ${counts.get(fallen[0])}`;
    },
  };
}

const restartsOf = ({ status }: ApiPod): ReadonlyMap<string, number> =>
  new Map((status?.containerStatuses ?? []).map(({ name, restartCount }) => [name, restartCount]));
