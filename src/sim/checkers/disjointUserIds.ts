/** No two pods with a live sandbox share a user ID of the node. */
import type { IdRange } from "../../core/userns/idRanges.ts";
import type { SimChecker } from "../simChecker.ts";

const overlap = (a: IdRange, b: IdRange): boolean =>
  a.firstId < b.firstId + b.length && b.firstId < a.firstId + a.length;

export function disjointUserIds(): SimChecker {
  /** User IDs of live sandboxes, by sandbox ID. */
  const live = new Map<string, IdRange & { readonly podUid: string; readonly name: string }>();
  return {
    name: "disjointUserIds",
    sees: ["change"],
    check(observation) {
      if (observation.kind !== "change") return undefined;
      const { kind, id, podUid, name, userIds } = observation.change;
      if (kind === "sandbox stopped" || kind === "sandbox removed") live.delete(id);
      if (kind !== "sandbox created" || userIds === undefined) return undefined;
      const other = [...live.values()].find((each) => each.podUid !== podUid && overlap(each, userIds));
      live.set(id, { ...userIds, podUid, name });
      return other === undefined
        ? undefined
        : `the pods ${name} and ${other.name} share user ids from ${userIds.firstId} and ${other.firstId} on`;
    },
  };
}
