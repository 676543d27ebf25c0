/** The marbles that belong to a chosen one. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Marbles } from "../marbles.ts";
import { chainOf } from "../model/marbleStore.ts";
import type { Related } from "./scene.ts";

/** Collects the chosen marble with its causes and effects. */
export function relatedTo(
  marbles: Pick<Marbles, "store" | "laneKey">,
  chosen: LiveMarble | undefined,
): Related | undefined {
  if (chosen === undefined) return undefined;
  const all = chainOf(marbles.store, chosen);
  return {
    byId: new Map(all.map((marble) => [marble.id, marble])),
    byLane: Map.groupBy(all, (marble) => marbles.laneKey(marble)),
  };
}
