import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

/** Admits every pod. */
export const openDoors: Mutant = {
  bug: "admission ignores the requests of the node's pods",
  caughtBy: "admittedFits",
  pods: 40,
  createKubelet: (config, ports) =>
    createKubelet({ ...config, maxPods: 1_000, allocatable: { cpu: "1000", memory: "4Ti" } }, ports),
};
