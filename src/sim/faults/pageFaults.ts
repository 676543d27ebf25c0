/** Faults of the manifest server: downtime, truncated bodies, stale bodies. */
import type { Prng } from "../prng.ts";
import type { SimPageFate } from "../podSources/simManifestPage.ts";
import type { FaultDice } from "./faultDice.ts";

const MOST_CHANGES_AGO = 3;

export interface PageFaults {
  fate(): SimPageFate;
  /** Makes every request fail from now on in one of three ways. */
  goDown(prng: Prng): void;
  comeBack(): void;
}

/** Creates the faults. */
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
