/**
 * Restart counts only grow, both in the status and in the attempts of the runtime, from which the kubelet restores
 * them. A pod without any container left counts from zero, and so does a container whose last attempt was removed while
 * its pod terminated, even if the pod returned before its other containers were removed.
 */
import type { PodStatus } from "../../core/api.ts";
import { podContainerStatuses } from "../../core/pod/containers.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import type { SimChecker } from "../simChecker.ts";
import { podParts } from "./podParts.ts";

const countsOf = (status: PodStatus | undefined): ReadonlyMap<string, number> =>
  new Map(podContainerStatuses(status).map(({ name, restartCount }) => [name, restartCount]));

export function restartCountsGrow(): SimChecker {
  const parts = podParts();
  /** Highest attempt created for each container, by pod UID. */
  const attempts = new Map<string, Map<string, number>>();
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** Pods that a source dropped, until the next CreateContainer request; earlier requests may still take effect. */
  const going = new Set<string>();
  return {
    name: "restartCountsGrow",
    sees: ["wanted", "status", "call", "change", "shutdown"],
    check(observation) {
      if (observation.kind === "wanted") {
        const { source, podUids } = observation;
        for (const uid of wanted.get(source) ?? []) if (!podUids.has(uid)) going.add(uid);
        wanted.set(source, podUids);
        return undefined;
      }
      if (observation.kind === "shutdown") {
        // Static pods that were ended start afresh after a cancelled shutdown.
        for (const [source, uids] of wanted) if (source !== "api") for (const uid of uids) going.add(uid);
        return undefined;
      }
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
      if (observation.kind === "call" && observation.rpc === "CreateContainer") going.delete(observation.podUid);
      if (observation.kind !== "change") return undefined;
      const { kind, podUid, name } = observation.change;
      if (kind.startsWith("container") && parts.isGoneAfter(observation.change)) attempts.delete(podUid);
      const [container = "", attempt = ""] = name.split("#");
      if (
        kind === "container removed" &&
        going.has(podUid) &&
        attempts.get(podUid)?.get(container) === Number(attempt)
      ) {
        attempts.get(podUid)?.delete(container);
      }
      if (kind !== "container created") return undefined;
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
