import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { hastySuccessor } from "./hastySuccessor.ts";
import type { Mutant } from "./mutant.ts";

/** Ignores parts whose stop was requested, and so treats their resources as free. */
export const hastyTenants: Mutant = {
  ...hastySuccessor,
  bug: "the resources of a pod are reused while the pod still stops",
  caughtBy: "admittedFits",
  seed: 22,
  faults: { ...noFaults(), roomTaken: 60 },
};
