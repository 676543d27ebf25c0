import { map } from "rxjs";
import { withPorts, type Mutant } from "./mutant.ts";

/** Ignores the pod status of the API server: only the containers decide whether a pod is terminal. */
export const revivedPods: Mutant = {
  bug: "a restarted kubelet starts a failed pod again",
  caughtBy: "finalPhaseStays",
  seed: 6,
  createKubelet: withPorts(({ snapshots$ }) => ({
    snapshots$: snapshots$.pipe(
      map((snapshot) => ({ ...snapshot, pods: snapshot.pods.map(({ status: _, ...pod }) => pod) })),
    ),
  })),
};
