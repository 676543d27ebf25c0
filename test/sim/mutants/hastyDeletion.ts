import { tap } from "rxjs";
import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

/** Removes a pod object as soon as it has a deletion timestamp. */
export const hastyDeletion: Mutant = {
  bug: "the object of a deleted pod is removed before the pod has stopped",
  caughtBy: "deletedOnceStopped",
  seed: 7,
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
