import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

/** Admits every pod. */
export const openDoors: Mutant = {
  bug: "admission does not count what the pods of the node request",
  caughtBy: "admittedFits",
  pods: 40,
  createKubelet: (config, ports) =>
    createKubelet({ ...config, maxPods: 1_000, allocatable: { cpu: "1000", memory: "4Ti" } }, ports),
};
