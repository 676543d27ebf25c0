/**
 * The status shows a container with a startup probe as started or ready only after that probe succeeded on this
 * instance.
 */
import type { SimChecker } from "../simChecker.ts";
import { liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";
import { probeAnswers } from "./probeAnswers.ts";
import { reportedRunning } from "./reportedRunning.ts";

export function startupGatesReady(live = liveContainers()): SimChecker {
  /** Instances whose startup probe succeeded, under this process of the kubelet or an earlier one. */
  const passed = new Set<string>();
  return {
    name: "startupGatesReady",
    sees: [...LIVE_SIGHTS, "probe", "status"],
    check(observation) {
      live.look(observation);
      if (observation.kind === "change" && observation.change.kind === "container exited") {
        passed.delete(observation.change.id);
      }
      if (observation.kind === "probe") {
        for (const { container, kind, isSuccess } of probeAnswers(live, observation)) {
          if (kind === "startup" && isSuccess) passed.add(container.id);
        }
      }
      if (observation.kind !== "status") return undefined;
      for (const [id, { ready, started }] of reportedRunning(observation.after)) {
        const container = live.get(id);
        if (container === undefined || passed.has(id) || live.spec(container)?.startupProbe === undefined) continue;
        if (ready || started === true) {
          return `${container.subject} is reported as ${ready ? "ready" : "started"} before its startup probe succeeded`;
        }
      }
      return undefined;
    },
  };
}
