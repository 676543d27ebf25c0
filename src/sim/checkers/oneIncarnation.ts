/** Pods with the same full name do not overlap: the earlier pod is stopped before a part of the next one lives. */
import type { SimChecker } from "../simChecker.ts";

export function oneIncarnation(): SimChecker {
  /** Live sandboxes and containers by full name, each with the UID of its pod. */
  const live = new Map<string, Map<string, string>>();
  return {
    name: "oneIncarnation",
    sees: ["change"],
    check(observation) {
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name } = observation.change;
      const [namespace = "", pod = ""] = name.split("/");
      const fullName = `${namespace}/${pod}`;
      const parts = live.get(fullName) ?? new Map<string, string>();
      if (kind === "sandbox stopped" || kind === "container exited") {
        parts.delete(id);
        if (parts.size === 0) live.delete(fullName);
      }
      if (kind !== "sandbox created" && kind !== "container started") return undefined;
      const other = [...parts.values()].find((uid) => uid !== podUid);
      live.set(fullName, parts.set(id, podUid));
      return other === undefined ? undefined : `${name} of pod ${podUid} lives while pod ${other} does`;
    },
  };
}
