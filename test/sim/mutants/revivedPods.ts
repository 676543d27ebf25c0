import { map } from "rxjs";
import { withPorts, type Mutant } from "./mutant.ts";

/** Does not read what the API server knows of a pod: whether it has ended is asked of its containers alone. */
export const revivedPods: Mutant = {
  bug: "a pod that has failed for good is begun again by a restarted kubelet",
  caughtBy: "finalPhaseStays",
  createKubelet: withPorts(({ snapshots$ }) => ({
    snapshots$: snapshots$.pipe(
      map((snapshot) => ({ ...snapshot, pods: snapshot.pods.map(({ status: _, ...pod }) => pod) })),
    ),
  })),
};
