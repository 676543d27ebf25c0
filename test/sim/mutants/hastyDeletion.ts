import { tap } from "rxjs";
import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

/** Removes an object as soon as it learns that somebody deleted it. */
export const hastyDeletion: Mutant = {
  bug: "a deleted pod's object goes before the pod has stopped",
  caughtBy: "deletedOnceStopped",
  createKubelet: withPodLane((pods) => ({
    patch: (resource, ref, ...rest) =>
      pods.patch(resource, ref, ...rest).pipe(
        tap(({ metadata }) => {
          if (metadata?.deletionTimestamp === undefined || metadata.uid === undefined) return;
          const options = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
          pods.delete(resource, ref, options).subscribe({ error: () => {} });
        }),
      ),
  })),
};
