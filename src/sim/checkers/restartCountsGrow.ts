/**
 * Restart counts only grow: those the kubelet tells, and the attempts it makes in the runtime, which is their memory: a
 * pod of which no container is left starts counting anew.
 */
import type { PodStatus } from "../../core/api.ts";
import type { SimChecker } from "../simChecker.ts";
import { podParts } from "./podParts.ts";

const countsOf = (status: PodStatus | undefined): ReadonlyMap<string, number> =>
  new Map(
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(({ name, restartCount }) => [
      name,
      restartCount,
    ]),
  );

export function restartCountsGrow(): SimChecker {
  const parts = podParts();
  /** Highest attempt made of each container, by pod UID. */
  const attempts = new Map<string, Map<string, number>>();
  return {
    name: "restartCountsGrow",
    check(observation) {
      if (observation.kind === "status") {
        const after = countsOf(observation.after);
        for (const [name, count] of countsOf(observation.before)) {
          const next = after.get(name);
          if (next !== undefined && next < count) {
            return `${observation.subject}/${name} went from ${count} restarts to ${next}`;
          }
        }
        return undefined;
      }
      if (observation.kind !== "change") return undefined;
      const { kind, podUid, name } = observation.change;
      if (kind.startsWith("container") && parts.isGoneAfter(observation.change)) attempts.delete(podUid);
      if (kind !== "container created") return undefined;
      const [container = "", attempt = ""] = name.split("#");
      const ofPod = attempts.get(podUid) ?? new Map<string, number>();
      attempts.set(podUid, ofPod);
      const highest = ofPod.get(container);
      ofPod.set(container, Math.max(highest ?? 0, Number(attempt)));
      return highest === undefined || Number(attempt) > highest
        ? undefined
        : `${name} was created after attempt ${highest}`;
    },
  };
}
