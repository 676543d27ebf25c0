import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

const EVERY = 5;

/** Treats every fifth status as written without sending it. */
export const droppedStatuses: Mutant = {
  bug: "some statuses never reach the API server",
  caughtBy: "statusesArrive",
  seed: 2,
  createKubelet: withPodLane((pods) => {
    let sent = 0;
    const last = new Map<string, string>();
    return {
      patch: (resource, ref, patch, options) => {
        sent += 1;
        const name = `${ref.namespace}/${ref.name}`;
        const text = JSON.stringify(patch.body);
        // Drops repeats of that status as well: a repeat would repair the omission.
        if (sent % EVERY === 0) last.set(name, text);
        return last.get(name) === text ? pods.get(resource, ref) : pods.patch(resource, ref, patch, options);
      },
    };
  }),
};
