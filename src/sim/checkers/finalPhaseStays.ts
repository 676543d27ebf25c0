/** A pod that has Succeeded or Failed stays so, also over restarts of the kubelet. */
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimChecker } from "../simChecker.ts";

export function finalPhaseStays(): SimChecker {
  return {
    name: "finalPhaseStays",
    check(observation) {
      if (observation.kind !== "status") return undefined;
      const { before, after, subject } = observation;
      if (!isTerminalPhase(before?.phase) || after === undefined || after.phase === before.phase) return undefined;
      return `${subject} went from ${before.phase} to ${after.phase}`;
    },
  };
}
