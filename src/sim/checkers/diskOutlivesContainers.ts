/**
 * The directory, the cgroup, the volumes and the mounts of a pod are removed only after its last container has ended.
 */
import type { SimChecker } from "../simChecker.ts";

export function diskOutlivesContainers(): SimChecker {
  /** Running containers by pod UID. */
  const running = new Map<string, Map<string, string>>();
  return {
    name: "diskOutlivesContainers",
    sees: ["removed", "change"],
    check(observation) {
      if (observation.kind === "removed") {
        const { what, podUid } = observation;
        const [name] = running.get(podUid)?.values() ?? [];
        return name === undefined ? undefined : `the ${what} of pod ${podUid} was removed while ${name} runs`;
      }
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name } = observation.change;
      if (kind === "container started") {
        const ofPod = running.get(podUid) ?? new Map<string, string>();
        running.set(podUid, ofPod.set(id, name));
      }
      if (kind === "container exited") {
        running.get(podUid)?.delete(id);
        if (running.get(podUid)?.size === 0) running.delete(podUid);
      }
      return undefined;
    },
  };
}
