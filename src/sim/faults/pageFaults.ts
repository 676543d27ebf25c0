/** Faults of the server that hands out manifests: down for a while, half a body, a body from before the last changes. */
import type { Prng } from "../prng.ts";
import type { SimPageFate } from "../podSources/simManifestPage.ts";
import type { FaultDice } from "./faultDice.ts";

const MOST_CHANGES_AGO = 3;

export interface PageFaults {
  fate(): SimPageFate;
  /** From now on every request fails in one way; it is one of three. */
  goDown(prng: Prng): void;
  comeBack(): void;
}

/** Makes them. */
export function createPageFaults(dice: FaultDice): PageFaults {
  let requests = 0;
  let down: SimPageFate | undefined;
  return {
    fate() {
      requests += 1;
      if (down !== undefined) return down;
      const fault = dice.roll(["pageCut", "pageStale"], String(requests));
      switch (fault?.kind) {
        case "pageCut":
          return { kind: "cut", part: fault.prng.next() };
        case "pageStale":
          return { kind: "stale", changesAgo: fault.prng.int(1, MOST_CHANGES_AGO) };
        default:
          return { kind: "answer" };
      }
    },
    goDown(prng) {
      down = prng.pick<SimPageFate>([{ kind: "refuse" }, { kind: "hang" }, { kind: "status", status: 503 }]);
    },
    comeBack() {
      down = undefined;
    },
  };
}
