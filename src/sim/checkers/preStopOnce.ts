/** A preStop exec hook runs at most once per instance; a restarted kubelet may run it once more. */
import type { SimChecker } from "../simChecker.ts";
import { containerNameOf, liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";

export function preStopOnce(live = liveContainers()): SimChecker {
  /** Instances whose hook started under this process of the kubelet. */
  const begun = new Set<string>();
  return {
    name: "preStopOnce",
    sees: [...LIVE_SIGHTS, "kubelet", "call"],
    check(observation) {
      live.look(observation);
      if (observation.kind === "kubelet") begun.clear();
      if (observation.kind === "change" && observation.change.kind === "container removed") {
        const { podUid, name } = observation.change;
        begun.delete(`${podUid} ${name}`);
      }
      if (observation.kind !== "call" || observation.command === undefined) return undefined;
      const { podUid, subject, command } = observation;
      const hook = live.spec({ podUid, name: containerNameOf(subject) ?? "" })?.lifecycle?.preStop?.exec?.command;
      if (hook === undefined || hook.join(" ") !== command.join(" ")) return undefined;
      const instance = `${podUid} ${subject}`;
      if (begun.has(instance)) return `the preStop hook of ${subject} runs a second time`;
      begun.add(instance);
      return undefined;
    },
  };
}
