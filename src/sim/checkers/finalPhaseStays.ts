/**
 * A pod that has Succeeded or Failed keeps its phase once its containers have stopped: until then an evicted pod may
 * still succeed. Across a restart of the kubelet this holds for pods whose source returns their status; the outcome of
 * a static pod is known only from its containers.
 */
import type { PodStatus } from "../../core/api.ts";
import { podContainerStatuses } from "../../core/pod/containers.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { SHUTDOWN_REASONS } from "../../core/shutdown/shutdownStatus.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";

/** Whether every container has ended. A container that waits may have just been started. */
const hasStopped = (status: PodStatus): boolean =>
  podContainerStatuses(status).every(({ state }) => state?.terminated !== undefined);

export function finalPhaseStays(): SimChecker {
  /** Terminal phases that a source gave to the kubelet, by source and pod UID. */
  const known = new Map<PodSource, ReadonlyMap<string, string>>();
  const statics = new Set<string>();
  const reported = ({ source, pods }: SimObservation & { readonly kind: "wanted" }): void => {
    const final = pods.flatMap(({ metadata, status }) =>
      status?.phase !== undefined && isTerminalPhase(status.phase) ? [[metadata.uid, status.phase] as const] : [],
    );
    known.set(source, new Map(final));
    if (source !== "api") for (const { metadata } of pods) statics.add(metadata.uid);
  };
  return {
    name: "finalPhaseStays",
    sees: ["wanted", "status"],
    check(observation) {
      if (observation.kind === "wanted") reported(observation);
      if (observation.kind !== "status") return undefined;
      const { podUid, before, after, subject } = observation;
      const handed = [...known.values()].map((phases) => phases.get(podUid)).find((phase) => phase !== undefined);
      const final = before !== undefined && isTerminalPhase(before.phase) && hasStopped(before) ? before.phase : handed;
      // A static pod that a shutdown has ended or refused starts again when the shutdown is cancelled.
      if (statics.has(podUid) && SHUTDOWN_REASONS.includes(before?.reason ?? "")) return undefined;
      if (final === undefined || after === undefined || after.phase === final) return undefined;
      return `${subject} went from ${final} to ${after.phase}`;
    },
  };
}
