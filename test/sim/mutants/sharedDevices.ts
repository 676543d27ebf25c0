import { type Mutant, withHardware } from "./mutant.ts";

/** Decides about the devices of each pod as if it was alone on the node, and about CPUs and memory as it should. */
export const sharedDevices: Mutant = {
  bug: "a device is given to two containers",
  caughtBy: "ownDevices",
  seed: 3,
  workload: "pinned",
  createKubelet: withHardware(({ assignWith }) => ({
    assignWith: (managers) =>
      assignWith(
        managers.map((manager) => ({
          ...manager,
          hints: (pod, container, holdings) => manager.hints(pod, container, { ...holdings, others: [] }),
          assign: (pod, container, place, holdings) =>
            manager.assign(pod, container, place, { ...holdings, others: [] }),
        })),
      ),
  })),
};
