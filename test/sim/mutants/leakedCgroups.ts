import { EMPTY } from "rxjs";
import { withPorts, type Mutant } from "./mutant.ts";

/** Never removes a pod's cgroup. */
export const leakedCgroups: Mutant = {
  bug: "cgroups remain after the removal of their pods",
  caughtBy: "leftovers",
  createKubelet: withPorts(({ cgroups }) =>
    cgroups === undefined ? {} : { cgroups: { ...cgroups, destroy: () => EMPTY, list: () => EMPTY } },
  ),
};
