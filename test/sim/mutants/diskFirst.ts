import { beforeEachStop, type Mutant } from "./mutant.ts";

/** Removes the directory of a pod with its volumes before it stops the containers. */
export const diskFirst: Mutant = {
  bug: "volumes are removed before the containers that use them have ended",
  caughtBy: "diskOutlivesContainers",
  createKubelet: beforeEachStop((directory, { files }) => files.remove(directory)),
};
