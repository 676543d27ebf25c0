import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { hastySuccessor } from "./hastySuccessor.ts";
import type { Mutant } from "./mutant.ts";

/** The same forgetfulness: what is being stopped takes no room. */
export const hastyTenants: Mutant = {
  ...hastySuccessor,
  bug: "the room of a pod is given away while it is being stopped",
  caughtBy: "admittedFits",
  faults: { ...noFaults(), roomTaken: 60 },
};
