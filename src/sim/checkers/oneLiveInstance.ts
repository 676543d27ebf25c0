/** A pod never has two live containers with the same name. */
import type { SimChecker } from "../simChecker.ts";

export function oneLiveInstance(): SimChecker {
  /** Running container by pod UID and container name. */
  const live = new Map<string, string>();
  return {
    name: "oneLiveInstance",
    sees: ["change"],
    check(observation) {
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name } = observation.change;
      const key = `${podUid} ${name.split("#")[0]}`;
      if (kind === "container exited" && live.get(key) === id) live.delete(key);
      if (kind !== "container started") return undefined;
      const other = live.get(key);
      live.set(key, id);
      return other === undefined ? undefined : `${name} started while ${other.slice(0, 13)} of the same name runs`;
    },
  };
}
