import type { AssignHardware, PodHardware } from "../../../src/core/topology/hardware.ts";
import { type Mutant, withAssignment } from "./mutant.ts";

const withoutMemory = (pod: PodHardware): PodHardware =>
  new Map([...pod].map(([name, { memory: _, ...hardware }]) => [name, hardware]));

/** Decides about the memory of each pod as if it was alone on the node. */
const forgetMemory =
  (assign: AssignHardware): AssignHardware =>
  (pod, others, kept) =>
    assign(pod, others.map(withoutMemory), kept);

export const movedMemory: Mutant = {
  bug: "a NUMA node gives out more memory than it has",
  caughtBy: "ownMemory",
  seed: 2,
  workload: "cores",
  createKubelet: withAssignment(forgetMemory),
};
