import { tap } from "rxjs";
import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

const LATER_MS = 30_000;

/** Sends every status patch a second time, half a minute later. */
export const oldNews: Mutant = {
  bug: "an outdated status is sent again",
  caughtBy: "serverStatusGrows",
  createKubelet: withPodLane((pods, { clock }) => ({
    patch: (...request) =>
      pods.patch(...request).pipe(
        tap(() => {
          clock.scheduler.schedule(() => void pods.patch(...request).subscribe({ error: () => {} }), LATER_MS);
        }),
      ),
  })),
};
