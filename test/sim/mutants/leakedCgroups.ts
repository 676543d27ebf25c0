import { EMPTY } from "rxjs";
import { withPorts, type Mutant } from "./mutant.ts";

/** Never removes a pod's cgroup. */
export const leakedCgroups: Mutant = {
  bug: "the cgroups of pods stay when the pods have gone",
  caughtBy: "leftovers",
  createKubelet: withPorts(({ cgroups }) =>
    cgroups === undefined ? {} : { cgroups: { ...cgroups, destroy: () => EMPTY, list: () => EMPTY } },
  ),
};
