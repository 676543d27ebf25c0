import { filter } from "rxjs";
import { withPorts, type Mutant } from "./mutant.ts";

/** Reads each pod source only up to its first snapshot with pods. */
export const deafToSources: Mutant = {
  bug: "pods that a source adds later never reach the kubelet",
  caughtBy: "desiredState",
  createKubelet: withPorts(({ snapshots$ }) => {
    const heard = new Set<string>();
    return {
      snapshots$: snapshots$.pipe(
        filter(({ source, pods }) => {
          const isNew = !heard.has(source);
          if (pods.length > 0) heard.add(source);
          return isNew;
        }),
      ),
    };
  }),
};
