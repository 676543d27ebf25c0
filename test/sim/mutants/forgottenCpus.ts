import { type Mutant, withAssignment } from "./mutant.ts";

/** Gives pods of before a restart the highest CPUs instead of their own: those that are free if lower ones are taken. */
export const forgottenCpus: Mutant = {
  bug: "a restart of the kubelet moves a container to other CPUs",
  caughtBy: "ownCpus",
  seed: 3,
  workload: "cores",
  createKubelet: withAssignment((assign) => (pod, others, kept) => {
    if (kept === undefined) return assign(pod, others, undefined);
    const own = new Map([...kept.hardware].map(([name, { cpus = [] }]) => [name, { cpus }]));
    const elsewhere = assign(pod, [...others, own], undefined);
    return "hardware" in elsewhere ? elsewhere : assign(pod, others, kept);
  }),
};
