import { createKubelet } from "../../../src/kubelet.ts";
import { type Mutant, shortOfResources } from "./mutant.ts";

/** Ends a pressure as soon as the next look finds the resource available again. */
export const flappingPressure: Mutant = {
  bug: "pressure conditions end before the transition period",
  caughtBy: "pressureLasts",
  faults: shortOfResources(),
  createKubelet: (config, ports) => createKubelet({ ...config, pressureTransitionMs: 15_000 }, ports),
};
