import { createKubelet } from "../../../src/kubelet.ts";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import type { Mutant } from "./mutant.ts";

/** Collects images until nothing is left to remove. */
export const greedyImageGc: Mutant = {
  bug: "image garbage collection does not stop at the low mark",
  caughtBy: "imageGcStops",
  faults: { ...noFaults(), imagesPile: 16 },
  createKubelet: (config, ports) => createKubelet({ ...config, imageGc: { ...config.imageGc, lowPercent: 1 } }, ports),
};
