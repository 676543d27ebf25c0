/**
 * A pod that the kubelet evicts at a threshold ends as Failed, with the reason Evicted, or as Succeeded if all its
 * containers exit with 0; both with the condition DisruptionTarget. The next process of the kubelet does not know an
 * eviction that was not reported. A pod past its deadline, or preempted, keeps that reason, also if its status is late: an
 * eviction shortens its grace period.
 */
import type { PodStatus } from "../../core/api.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimChecker } from "../simChecker.ts";
import { nodeEvictionOf } from "./nodeEvictions.ts";

/** Returns whether a pod reports success and none of its containers contradicts it. */
export const hasSucceeded = ({ phase, containerStatuses = [] }: PodStatus): boolean =>
  phase === "Succeeded" &&
  containerStatuses.length > 0 &&
  containerStatuses.every(({ state }) => state?.terminated?.exitCode === 0);

/** Events of pods whose reason is final. */
const KEPT: ReadonlySet<string> = new Set(["DeadlineExceeded", "Preempting"]);

export function evictedAreTold(): SimChecker {
  const evicted = new Set<string>();
  const over = new Set<string>();
  return {
    name: "evictedAreTold",
    sees: ["event", "status", "kubelet"],
    check(observation) {
      if (observation.kind === "kubelet") {
        evicted.clear();
        over.clear();
      }
      if (observation.kind === "event" && KEPT.has(observation.event.reason)) {
        over.add(observation.event.object.uid);
      }
      const eviction = nodeEvictionOf(observation);
      if (eviction !== undefined && !over.has(eviction.podUid)) evicted.add(eviction.podUid);
      if (observation.kind !== "status") return undefined;
      const { podUid, subject, after } = observation;
      if (after === undefined) {
        evicted.delete(podUid);
        over.delete(podUid);
        return undefined;
      }
      if (!isTerminalPhase(after.phase)) return undefined;
      over.add(podUid);
      if (!evicted.has(podUid)) return undefined;
      const { phase, reason, conditions = [] } = after;
      const isEvicted = phase === "Failed" && reason === "Evicted";
      if (!isEvicted && !hasSucceeded(after)) return `${subject} was evicted and is ${phase} (${reason})`;
      const target = conditions.find(({ type }) => type === "DisruptionTarget");
      if (target?.status === "True" && target.reason === "TerminationByKubelet") return undefined;
      return `${subject} was evicted and is no DisruptionTarget`;
    },
  };
}
