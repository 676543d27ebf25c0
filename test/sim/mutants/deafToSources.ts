import { filter } from "rxjs";
import { withPorts, type Mutant } from "./mutant.ts";

/** Listens to each source of pods until it has told of some. */
export const deafToSources: Mutant = {
  bug: "pods that a source tells of later are never known",
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
