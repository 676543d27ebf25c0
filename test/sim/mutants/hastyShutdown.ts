import { createKubelet } from "../../../src/kubelet.ts";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import type { Mutant } from "./mutant.ts";

/** Leaves the pods of a period no time, so that the next period begins at once. */
export const hastyShutdown: Mutant = {
  bug: "when the machine shuts down, pods of higher priority end while those of lower priority still run",
  caughtBy: "shutdownOrder",
  pods: 16,
  faults: { ...noFaults(), nodeShutsDown: 30 },
  createKubelet: (config, ports) =>
    createKubelet(
      { ...config, shutdownPeriods: config.shutdownPeriods.map((period) => ({ ...period, seconds: 0 })) },
      ports,
    ),
};
