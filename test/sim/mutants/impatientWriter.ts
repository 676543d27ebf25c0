import { retry, timer } from "rxjs";
import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

const TRIES = 300;

/** Repeats a failed request at once. */
export const impatientWriter: Mutant = {
  bug: "a failed request is repeated without a pause",
  caughtBy: "writesInBounds",
  createKubelet: withPodLane((pods, { clock }) => ({
    patch: (...request) => pods.patch(...request).pipe(retry({ count: TRIES, delay: () => timer(1, clock.scheduler) })),
  })),
};
