/**
 * Restart counts only grow: those the kubelet tells, and the attempts it makes in the runtime, which is their memory: a
 * pod of which no container is left starts counting anew, and so does a container whose last attempt was removed while
 * its pod was to go, though the pod came back before the rest of it was gone.
 */
import type { PodStatus } from "../../core/api.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
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
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** Pods a source gave up, until something of them is asked for again; what was asked for before may still be made. */
  const going = new Set<string>();
  return {
    name: "restartCountsGrow",
    sees: ["wanted", "status", "call", "change"],
    check(observation) {
      if (observation.kind === "wanted") {
        const { source, podUids } = observation;
        for (const uid of wanted.get(source) ?? []) if (!podUids.has(uid)) going.add(uid);
        wanted.set(source, podUids);
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
