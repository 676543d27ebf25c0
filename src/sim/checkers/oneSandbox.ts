/** A pod gets a new sandbox only after the previous sandbox was stopped and all containers in it have ended. */
import type { SimChecker } from "../simChecker.ts";
import { liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";

export function oneSandbox(live = liveContainers()): SimChecker {
  /** Ready sandboxes by id, with the UIDs of their pods. */
  const ready = new Map<string, string>();
  return {
    name: "oneSandbox",
    sees: LIVE_SIGHTS,
    check(observation) {
      live.look(observation);
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name } = observation.change;
      if (kind === "sandbox stopped" || kind === "sandbox removed") ready.delete(id);
      if (kind !== "sandbox created") return undefined;
      const other = [...ready].find(([, uid]) => uid === podUid);
      ready.set(id, podUid);
      if (other !== undefined) return `a sandbox of ${name} was created while ${other[0].slice(0, 13)} is ready`;
      const [container] = live.ofPod(podUid);
      return container === undefined ? undefined : `a sandbox of ${name} was created while ${container.subject} runs`;
    },
  };
}
