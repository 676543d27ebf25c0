import { type Mutant, withAssignment } from "./mutant.ts";

/** Decides about the hardware of each pod as if it was alone on the node. */
export const doubleBooking: Mutant = {
  bug: "a CPU is given to two containers",
  caughtBy: "ownCpus",
  workload: "cores",
  createKubelet: withAssignment((assign) => (pod, _others, kept) => assign(pod, [], kept)),
};
