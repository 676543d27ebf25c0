/**
 * A container that the OOM killer ended is reported as OOMKilled with code 137. When the whole machine runs out of
 * memory, and only then, the node gets a SystemOOM event, as long as the kubelet runs.
 */
import { podContainerStatuses } from "../../core/pod/containers.ts";
import type { SimChecker } from "../simChecker.ts";

/** Time for the event. */
const SOON_MS = 5_000;

/** Bound: the killed containers of the runtime, and the kills of a few seconds. */
export function oomKillsAreTold(): SimChecker {
  const killed = new Set<string>();
  let dueByMs = Infinity;
  let expected = 0;
  let isRunning = false;
  const eventProblem = (reason: string): string | undefined => {
    if (reason !== "SystemOOM") return undefined;
    expected -= 1;
    if (expected === 0) dueByMs = Infinity;
    if (expected >= 0) return undefined;
    expected = 0;
    return "a SystemOOM event without a kill for the whole machine";
  };
  return {
    name: "oomKillsAreTold",
    sees: ["kubelet", "kernel", "event", "change", "status", "measured"],
    check(observation) {
      const { atMs } = observation;
      if (observation.kind === "kubelet") {
        isRunning = observation.what === "started";
        expected = 0;
        dueByMs = Infinity;
      }
      if (atMs > dueByMs) {
        dueByMs = Infinity;
        return "a kill for the whole machine without a SystemOOM event";
      }
      switch (observation.kind) {
        case "kernel":
          if (isRunning && observation.text.includes("CONSTRAINT_NONE")) {
            expected += 1;
            dueByMs = Math.min(dueByMs, atMs + SOON_MS);
          }
          return undefined;
        case "event":
          return eventProblem(observation.event.reason);
        case "change": {
          const { kind, id, reason } = observation.change;
          if (kind === "container exited" && reason === "OOMKilled") killed.add(id);
          if (kind === "container removed") killed.delete(id);
          return undefined;
        }
        case "status":
          for (const { name, state, lastState } of podContainerStatuses(observation.after)) {
            for (const { containerID = "", reason, exitCode } of [state?.terminated, lastState?.terminated].filter(
              (each) => each !== undefined,
            )) {
              if (!killed.has(containerID.slice(containerID.indexOf("//") + 2))) continue;
              if (reason !== "OOMKilled" || exitCode !== 137)
                return `${observation.subject}/${name} was killed for memory and is reported as ${reason} (${exitCode})`;
            }
          }
          return undefined;
        default:
          return undefined;
      }
    },
  };
}
