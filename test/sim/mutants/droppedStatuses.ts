import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

const EVERY = 5;

/** Takes every fifth status for written without sending it. */
export const droppedStatuses: Mutant = {
  bug: "some statuses never come to the server",
  caughtBy: "statusesArrive",
  createKubelet: withPodLane((pods) => {
    let sent = 0;
    const last = new Map<string, string>();
    return {
      patch: (resource, ref, patch, options) => {
        sent += 1;
        const name = `${ref.namespace}/${ref.name}`;
        const text = JSON.stringify(patch.body);
        // The same once more would give it away.
        if (sent % EVERY === 0) last.set(name, text);
        return last.get(name) === text ? pods.get(resource, ref) : pods.patch(resource, ref, patch, options);
      },
    };
  }),
};
